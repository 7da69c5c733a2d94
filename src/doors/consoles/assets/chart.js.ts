/**
 * The script of the page of spend: a chart that can be zoomed, of the numbers in the table below it.
 *
 * The library is loaded when the chart is asked for. A range is chosen with the mouse, with buttons, or in the
 * fields of the form; the table then shows the rows of the range, and adds them up.
 */
export const CHART_SCRIPT = `'use strict';
const figure = document.getElementById('chart');
const table = document.getElementById('spend');
if (figure && table) {
  const { from, to, step } = Object.fromEntries(['from', 'to', 'step'].map((name) => [name, Number(figure.dataset[name])]));
  const still = figure.querySelector('svg[role=img]');
  const fields = { from: document.getElementById('from'), to: document.getElementById('to') };
  const rows = [...table.tBodies[0].rows];
  const microsOf = (cell) => BigInt(cell.textContent.replace(/\\D/g, ''));
  const dollars = (micros) => {
    const text = String(micros).padStart(7, '0');
    return '$' + text.slice(0, -6).replace(/\\B(?=(\\d{3})+$)/g, ',') + '.' + text.slice(-6);
  };
  const timeText = (seconds) => new Date(seconds * 1000).toISOString().slice(0, step < 86400 ? 16 : 10).replace('T', ' ');
  const columns = rows[0].cells.length - 1;
  const times = Array.from({ length: Math.round((to - from) / step) }, (_, at) => from + at * step);
  const levels = Array.from({ length: columns - 1 }, () => times.map(() => 0));
  for (const row of rows) {
    const at = Math.round((row.dataset.at - from) / step);
    let sum = 0;
    levels.forEach((level, number) => { level[at] = sum += Number(microsOf(row.cells[number + 1])) / 1e6; });
  }

  const button = (text) => {
    const made = document.createElement('button');
    made.type = 'button';
    made.textContent = text;
    return made;
  };
  const bar = document.createElement('p');
  bar.className = 'actions';
  const open = button('Zoom');
  open.setAttribute('aria-expanded', 'false');
  bar.append(open);
  figure.append(bar);
  const canvas = document.createElement('div');
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', still.getAttribute('aria-label'));
  const state = document.createElement('p');
  state.className = 'hint';
  state.setAttribute('role', 'status');
  let range = [from, to];
  let plot;

  const showRange = () => {
    const sums = Array(columns).fill(0n);
    for (const row of rows) {
      const isIn = row.dataset.at >= range[0] && row.dataset.at < range[1];
      row.hidden = !isIn;
      if (isIn) sums.forEach((sum, at) => { sums[at] = sum + microsOf(row.cells[at + 1]); });
    }
    sums.forEach((sum, at) => { table.tFoot.rows[0].cells[at + 1].textContent = dollars(sum); });
    fields.from.value = timeText(range[0]).slice(0, 10);
    fields.to.value = timeText(range[1] - step).slice(0, 10);
    state.textContent = dollars(sums.at(-1)) + ' from ' + timeText(range[0]) + ' to ' +
      timeText(range[1] - (step < 86400 ? 0 : step)) + ' (' + figure.dataset.zone + '). The table shows the same.';
  };
  const zoomTo = (start, end) => {
    const first = Math.max(from, Math.min(to - step, from + Math.round((start - from) / step) * step));
    const last = Math.min(to, Math.max(first + step, from + Math.round((end - from) / step) * step));
    range = [first, last];
    if (plot) plot.setScale('x', { min: first, max: last });
    showRange();
  };

  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const fillOf = (number) => {
    const ratio = devicePixelRatio || 1;
    const tile = document.createElement('canvas');
    tile.width = tile.height = Math.round(8 * ratio);
    const pen = tile.getContext('2d');
    pen.scale(tile.width / 8, tile.width / 8);
    pen.fillStyle = color('--s' + number);
    pen.fillRect(0, 0, 8, 8);
    const lines = document.querySelector('#p' + number + ' .lines');
    if (lines) {
      pen.strokeStyle = color('--paper');
      pen.lineWidth = number === 2 ? 2.5 : 1.25;
      pen.lineCap = number === 2 ? 'round' : 'butt';
      pen.stroke(new Path2D(lines.getAttribute('d')));
    }
    return pen.createPattern(tile, 'repeat');
  };
  const nameSplits = (_plot, splits, _axis, _space, every) => splits.map((each) => {
    const text = new Date(each * 1000).toISOString();
    return every >= 86400 || text.slice(11, 16) === '00:00' ? text.slice(5, 10) : text.slice(11, 16);
  });
  const draw = () => {
    plot?.destroy();
    const axis = { stroke: color('--quiet'), grid: { stroke: color('--line'), width: 1 }, ticks: { show: false },
      font: '12px ' + getComputedStyle(document.body).fontFamily };
    const bars = uPlot.paths.bars({ size: [0.8, 80], align: 1 });
    plot = new uPlot({
      width: canvas.clientWidth, height: 280,
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
      scales: { x: { min: range[0], max: range[1] }, y: { range: (_plot, _least, most) => [0, (most || 1) * 1.05] } },
      axes: [{ ...axis, values: nameSplits }, { ...axis, size: 84, values: (_plot, splits) => splits.map((each) => '$' + each.toLocaleString('en-US')) }],
      series: [{}, ...levels.map((_, at) => levels.length - 1 - at).map((number) =>
        ({ fill: fillOf(number), stroke: color('--paper'), width: times.length > 100 ? 0 : 1, paths: bars, points: { show: false } }))],
      hooks: { setSelect: [(chosen) => {
        const { left, width } = chosen.select;
        if (width < 2) return;
        chosen.setSelect({ left: 0, width: 0 }, false);
        zoomTo(chosen.posToVal(left, 'x'), chosen.posToVal(left + width, 'x'));
      }] },
    }, [times, ...levels.toReversed()], canvas);
    // The library's own answer to a double click forgets that bars begin at their time.
    plot.over.addEventListener('dblclick', (event) => { event.stopImmediatePropagation(); zoomTo(from, to); }, true);
  };
  const load = (element, attributes) => new Promise((done, failed) => {
    const made = document.createElement(element);
    Object.assign(made, attributes, { onload: done, onerror: failed });
    document.head.append(made);
  });
  const steps = {
    Closer: () => zoomTo(range[0] + (range[1] - range[0]) / 4, range[1] - (range[1] - range[0]) / 4),
    Wider: () => zoomTo(range[0] - (range[1] - range[0]) / 2, range[1] + (range[1] - range[0]) / 2),
    Earlier: () => { const by = Math.min(range[1] - range[0], range[0] - from); zoomTo(range[0] - by, range[1] - by); },
    Later: () => { const by = Math.min(range[1] - range[0], to - range[1]); zoomTo(range[0] + by, range[1] + by); },
    Everything: () => zoomTo(from, to),
  };
  const start = async () => {
    open.disabled = true;
    try {
      await Promise.all([
        load('link', { rel: 'stylesheet', href: figure.dataset.style }),
        load('script', { src: figure.dataset.script }),
      ]);
    } catch {
      open.disabled = false;
      state.textContent = 'The chart could not be loaded. The table has all numbers.';
      figure.append(state);
      return;
    }
    // SVG has the attribute, and no property.
    still.setAttribute('hidden', '');
    still.before(canvas);
    for (const [text, act] of Object.entries(steps)) {
      const made = button(text);
      made.addEventListener('click', act);
      bar.append(made);
    }
    bar.firstElementChild.nextElementSibling.focus();
    open.remove();
    figure.append(state);
    draw();
    showRange();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
    new ResizeObserver(() => plot.setSize({ width: canvas.clientWidth, height: 280 })).observe(canvas);
    for (const each of Object.values(fields)) {
      each.addEventListener('change', () => {
        const [first, last] = [fields.from, fields.to].map(({ value }) => Date.parse(value + 'T00:00:00Z') / 1000);
        if (first <= last && first >= from && last < to) zoomTo(first, last + 86400);
      });
    }
  };
  open.addEventListener('click', start);
}
`;
