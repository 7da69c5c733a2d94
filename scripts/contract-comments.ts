/** Comments of the contract, for generators of types that repeat them. */
import type { DescEnumValue, DescField, DescFile, DescMessage } from '@bufbuild/protobuf';

type Desc = DescMessage | DescField | DescEnumValue;

/** The comment above a message, a field or a value of an enum, on one line; empty if there is none. */
export function readComment(desc: Desc): string {
  const path = pathOf(desc).join();
  const locations = fileOf(desc).proto.sourceCodeInfo?.location ?? [];
  const comment = locations.find((each) => each.path.join() === path)?.leadingComments ?? '';
  return comment.trim().replace(/\s*\n\s*/g, ' ');
}

function fileOf(desc: Desc): DescFile {
  if (desc.kind === 'message') return desc.file;
  return desc.parent.file;
}

/** Numbers of the members of descriptors: messages and enums of a file, and their own members. */
function pathOf(desc: Desc): number[] {
  if (desc.kind === 'field') return [...pathOf(desc.parent), 2, desc.parent.fields.indexOf(desc)];
  if (desc.kind === 'enum_value') {
    const { parent } = desc;
    const ofEnum = parent.parent
      ? [...pathOf(parent.parent), 4, parent.parent.nestedEnums.indexOf(parent)]
      : [5, parent.file.enums.indexOf(parent)];
    return [...ofEnum, 2, parent.values.indexOf(desc)];
  }
  if (desc.parent) return [...pathOf(desc.parent), 3, desc.parent.nestedMessages.indexOf(desc)];
  return [4, desc.file.messages.indexOf(desc)];
}

/** Lines of at most `width` characters, unless a word is longer. */
export function wrap(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
