import { describe, expect, test } from 'vitest';
import {
  forgetInAct,
  forgetInSubject,
  parsePersonName,
  personNamed,
} from '../../../src/control/people/person.ts';

const ann = personNamed('Ann');

const user = (value: string) => ({ kind: 'user', value }) as const;
const act = (fields: object) => ({ subject: null, actor: null, reason: '', ...fields });

describe('a person', () => {
  test.each([
    ['Ann', ['Ann', 'ann']],
    ['ann', ['ann']],
    ['ＡＮＮ', ['ＡＮＮ', 'ann']],
    // Not a username.
    ['Ann Smith', ['Ann Smith']],
    ['a'.repeat(65), ['a'.repeat(65)]],
  ])('%j has the names %j', (name, names) => {
    expect(personNamed(name)).toEqual({ name, names });
  });
});

describe('an act', () => {
  test.each([
    [
      'about the person',
      { subject: user('ann'), reason: 'rude' },
      { subject: user('(erased)'), reason: '(erased)' },
    ],
    ['without a reason', { subject: user('ann') }, { subject: user('(erased)') }],
    ['by the person', { actor: 'ann', reason: 'rude' }, { actor: '(erased)', reason: 'rude' }],
    [
      'about another one',
      { subject: user('bob'), reason: 'rude to ANN.' },
      { subject: user('bob'), reason: '(erased)' },
    ],
    ['with the name at the end', { reason: 'told by ann' }, { reason: '(erased)' }],
  ])('%s is forgotten', (_, fields, expected) => {
    expect(forgetInAct(ann, act(fields))).toEqual(act(expected));
  });

  test.each([
    ['about a device of that name', { subject: { kind: 'device', value: 'ann' } }],
    ['with a longer name', { subject: user('anna'), actor: 'joann', reason: 'anna and joann' }],
    ['with nobody', {}],
    ['that was erased before', { subject: user('(erased)'), actor: '(erased)', reason: '(erased)' }],
  ])('%s stays the same object', (_, fields) => {
    const given = act(fields);
    expect(forgetInAct(ann, given)).toBe(given);
  });

  test.each(['a.b', '[x]', '.*', 'a|b', '(', '\\', '^$', 'zoë', 'עדה', '_'])(
    'mentions %j as it is written',
    (name) => {
      const person = personNamed(name);
      expect(forgetInAct(person, act({ reason: `with ${name}, again` })).reason).toBe('(erased)');
      expect(forgetInAct(person, act({ reason: 'with nobody, again' })).reason).toBe('with nobody, again');
    },
  );
});

describe('the subject of an event', () => {
  test('keeps everything but the name', () => {
    const subject = { room: 'lobby', username: 'ann', rank: 20, devices: [{ thumbprint: 'x' }] };
    expect(forgetInSubject(ann, subject)).toEqual({ ...subject, username: '(erased)' });
    const moderation = { action: 'kick', subject: user('ann'), actor: 'ann', reason: 'x', room: 'ann' };
    expect(forgetInSubject(ann, moderation)).toEqual({
      ...moderation,
      subject: user('(erased)'),
      actor: '(erased)',
      reason: '(erased)',
    });
  });

  test.each([
    [{ username: 'bob' }],
    [{ name: 'ann', metadata: 'ann' }],
    [{ action: 'kick', subject: null, actor: null, reason: '' }],
  ])('without the person stays the same object: %j', (subject) => {
    expect(forgetInSubject(ann, subject)).toBe(subject);
  });
});

test.each(['(erased)', '(ERASED)', '（erased）'])(
  '%s is no name: it is what stands for erased ones',
  (name) => {
    expect(() => parsePersonName(name)).toThrow('participant must be a name');
  },
);
