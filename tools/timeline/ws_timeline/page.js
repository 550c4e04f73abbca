// SPDX-License-Identifier: MIT
//
// The page of ws-timeline: draws `data` (page.py says what is in it) on a canvas, in the part of time that is looked at.
'use strict';
const LEFT = 150, RIGHT = 12, TITLE = 26, PHASE = 14, AXIS = 26;
const FADED = { compute: 0.35, loop: 0.8, parallel: 0.8, chunk: 1 };
const ORDER = ['chunk', 'loop', 'parallel', 'compute', 'lent', 'wait', 'asleep', 'idle', 'unknown'];
const MOVES = '#c2570c'; // arrows of tasks
const $ = id => document.getElementById(id);
const chart = $('chart'), pen = chart.getContext('2d');
const FULL = { begin: Math.min(...data.panels.map(p => p.begin)), end: Math.max(...data.panels.map(p => p.end)) };
const view = { ...FULL };
const SHORTEST = 20; // ns

// ---- What is in the data ----

// A row's parts: when each begins, its state (or -1 for a sum of several), and what else belongs to it.
function decode(panel, flat) {
    const begins = [], states = [], more = [];
    let now = panel.begin;
    for (let i = 0; i < flat.length;) {
        const took = flat[i++], state = flat[i++];
        begins.push(now);
        now += took;
        if (state < 0) {
            const sums = [];
            for (let n = 0; n < -state; n++, i += 3)
                sums.push({ state: flat[i], ns: flat[i + 1], count: flat[i + 2] });
            states.push(-1);
            more.push(sums);
        } else {
            states.push(state);
            const what = panel.states[state][0];
            more.push(what === 'chunk' ? [flat[i++], flat[i++]] : what === 'loop' ? [flat[i++]] : null);
        }
    }
    begins.push(now);
    return { begins: Float64Array.from(begins), states: Int32Array.from(states), more };
}
for (const panel of data.panels) {
    for (const row of panel.rows)
        row.parts = decode(panel, row.parts);
    // Per state: its rank, and its place in the stack, counted from the bottom.
    panel.rank_of = panel.states.map(s => s[1]);
    panel.place = panel.states.map(s => ORDER.indexOf(s[0]) * 1e6 + s[1]);
}

// The number of the part at `time`.
function part_at(parts, time) {
    let low = 0, high = parts.states.length - 1;
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (parts.begins[middle] <= time)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

// ---- Colours ----

let paints; // by what a core does; ranks take turns
function hatch(dots, colour) {
    const tile = document.createElement('canvas');
    tile.width = tile.height = 6;
    const p = tile.getContext('2d');
    p.fillStyle = p.strokeStyle = colour;
    if (dots)
        p.fillRect(2, 2, 1.6, 1.6);
    else {
        p.lineWidth = 1.2;
        p.beginPath();
        for (const x of [-6, 0, 6]) {
            p.moveTo(x, 6);
            p.lineTo(x + 6, 0);
        }
        p.stroke();
    }
    return pen.createPattern(tile, 'repeat');
}
function colour_of(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
function mix_paints() {
    const hex = (colour, opacity) => colour + Math.round(opacity * 255).toString(16).padStart(2, '0');
    paints = { wait: hatch(false, colour_of('--hatch')), asleep: hatch(true, colour_of('--hatch')), lent: '#99999973' };
    for (const [what, opacity] of Object.entries(FADED))
        data.colours.forEach((c, i) => paints[what + i] = hex(c, opacity));
}
function paint(what, rank) { return paints[what in FADED ? what + rank % data.colours.length : what]; }

// ---- Drawing ----

const height_of_row = (() => {
    const count = data.panels.reduce((n, p) => n + p.rows.length, 0);
    return count <= 8 ? 30 : count <= 32 ? 20 : 11;
})();
const gap = height_of_row > 15 ? Math.round(height_of_row * 0.45) : 3;
let width = 0, layout = [];
function measure() {
    layout = [];
    let y = 4;
    for (const panel of data.panels) {
        const title = y;
        y += TITLE + (panel.phases.length ? PHASE : 0);
        const tops = panel.rows.map(() => { const top = y; y += height_of_row + gap; return top; });
        layout.push({ title, tops, bottom: y - gap });
        y += 8;
    }
    const height = y + AXIS, ratio = window.devicePixelRatio || 1;
    width = chart.clientWidth;
    chart.style.height = height + 'px';
    chart.width = Math.round(width * ratio);
    chart.height = Math.round(height * ratio);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    layout.height = height;
}
const scale = () => (width - LEFT - RIGHT) / (view.end - view.begin);
const x_of = time => LEFT + (time - view.begin) * scale();
const time_of = x => view.begin + (x - LEFT) / scale();

function draw_row(panel, row, top) {
    const { begins, states, more } = row.parts, s = scale(), pixel = 1 / s;
    const h = height_of_row;
    let sums = null, sum_begin = 0, sum_end = 0;
    const column = () => {
        if (!sums)
            return;
        const x = Math.max(x_of(sum_begin), LEFT), w = Math.min(x_of(sum_end), width - RIGHT) - x;
        let y = top + h;
        let total = 0;
        for (const ns of sums.values())
            total += ns;
        for (const [state, ns] of [...sums].sort((a, b) => panel.place[a[0]] - panel.place[b[0]])) {
            const part = h * ns / total, fill = paint(panel.states[state][0], panel.states[state][1]);
            y -= part;
            if (fill) {
                pen.fillStyle = fill;
                pen.fillRect(x, y, w, part);
            }
        }
        sums = null;
    };
    const add = (state, ns) => sums.set(state, (sums.get(state) || 0) + ns);
    for (let i = part_at(row.parts, view.begin); i < states.length && begins[i] < view.end; i++) {
        const begin = begins[i], end = begins[i + 1];
        if (end <= view.begin)
            continue;
        const small = end - begin < pixel;
        if (states[i] >= 0 && !small) {
            column();
            const what = panel.states[states[i]][0], fill = paint(what, panel.rank_of[states[i]]);
            if (!fill)
                continue;
            const x = Math.max(x_of(begin), LEFT), w = Math.min(x_of(end), width - RIGHT) - x;
            pen.fillStyle = fill;
            pen.fillRect(x, top, w, h);
            if (what === 'chunk' && w > 4) { // where the next begins: a gap would look like idle time
                pen.fillStyle = '#0004';
                pen.fillRect(x + w - 1, top, 1, h);
            }
            continue;
        }
        if (!small || !sums) { // a sum in the data that has become wide by zooming stays a column of its own
            column();
            sums = new Map();
            sum_begin = begin;
        }
        if (states[i] >= 0)
            add(states[i], end - begin);
        else
            more[i].forEach(m => add(m.state, m.ns));
        sum_end = end;
        if (sum_end - sum_begin >= pixel)
            column();
    }
    column();
}

const NAMES = { wait: s => s[2], parallel: s => s[2], chunk: s => 'rank ' + s[1], loop: s => 'rank ' + s[1] };
function write_names(panel, row, top) {
    const { begins, states } = row.parts, s = scale();
    // What is shorter than two pixels, chunks of one rank taken together, belongs to what is before it.
    let begin = 0, end = 0, text = '', next = null;
    const put = () => {
        const from = Math.max(x_of(begin), LEFT), to = Math.min(x_of(end), width - RIGHT);
        if (!text || to - from < 8 * text.length + 6)
            return;
        pen.lineWidth = 3;
        pen.strokeStyle = colour_of('--back');
        pen.fillStyle = colour_of('--text');
        pen.textAlign = 'center';
        pen.strokeText(text, (from + to) / 2, top + height_of_row / 2);
        pen.fillText(text, (from + to) / 2, top + height_of_row / 2);
    };
    const take = () => {
        if (!next)
            return;
        if (next.name === text || (next.end - next.begin) * s < 2)
            end = next.end;
        else {
            put();
            ({ begin, end, name: text } = next);
        }
    };
    for (let i = part_at(row.parts, view.begin); i < states.length && begins[i] < view.end; i++) {
        const state = states[i] >= 0 && panel.states[states[i]], name = state && NAMES[state[0]] ? NAMES[state[0]](state) : '';
        if (next && next.name === name)
            next.end = begins[i + 1];
        else {
            take();
            next = { begin: begins[i], end: begins[i + 1], name };
        }
    }
    take();
    put();
}

// Arrows, [begin, end, row from, row to, ...]: where one is drawn, from the row's edge.
function place_of(arrow, place) {
    const [begin, end, from, to] = arrow, down = to > from;
    return { x0: x_of(begin), y0: place.tops[from] + (down ? height_of_row : 0), x1: x_of(end), y1: place.tops[to] + (down ? 0 : height_of_row) };
}
const lends_of = panel => panel.lends.map(l => [l[0], ...l]);
function draw_arrows(arrows, place, colour) {
    const last = new Map();
    pen.lineWidth = 1.3;
    pen.strokeStyle = pen.fillStyle = colour;
    for (const arrow of arrows) {
        const [begin, end, from, to] = arrow;
        if (end < view.begin || begin > view.end || from === to)
            continue;
        const { x0, y0, x1, y1 } = place_of(arrow, place), key = from * 100000 + to;
        if (x1 - (last.has(key) ? last.get(key) : -99) < 12)
            continue;
        last.set(key, x1);
        const length = Math.hypot(x1 - x0, y1 - y0), x = (x1 - x0) / length, y = (y1 - y0) / length; // its direction
        pen.beginPath();
        pen.moveTo(x0, y0);
        pen.lineTo(x1, y1);
        pen.stroke();
        pen.beginPath();
        pen.moveTo(x1, y1);
        pen.lineTo(x1 - 6 * x - 3.5 * y, y1 - 6 * y + 3.5 * x);
        pen.lineTo(x1 - 6 * x + 3.5 * y, y1 - 6 * y - 3.5 * x);
        pen.fill();
    }
}

const UNITS = [['s', 1e9], ['ms', 1e6], ['us', 1e3], ['ns', 1]];
function unit_of(ns) { return UNITS.find(u => Math.abs(ns) >= u[1]) || UNITS[3]; }
function time_text(ns, unit = unit_of(ns), digits = 4) {
    return +(ns / unit[1]).toPrecision(digits) + ' ' + unit[0];
}
function draw_axis() {
    const span = view.end - view.begin, unit = unit_of(span);
    let step = 1;
    while (span / step > Math.max(2, (width - LEFT) / 110))
        step *= String(step)[0] === '2' ? 2.5 : 2;
    pen.textAlign = 'center';
    pen.lineWidth = 1;
    for (let t = Math.ceil(view.begin / step) * step; t <= view.end; t += step) {
        const x = x_of(t);
        pen.strokeStyle = colour_of('--line');
        pen.beginPath();
        pen.moveTo(x, TITLE);
        pen.lineTo(x, layout.height - AXIS + 4);
        pen.stroke();
        pen.fillStyle = colour_of('--text');
        pen.fillText(time_text(t, unit, 8), Math.min(x, width - 30), layout.height - AXIS / 2);
    }
}

function draw() {
    pen.clearRect(0, 0, width, layout.height);
    pen.font = '12px system-ui, sans-serif';
    pen.textBaseline = 'middle';
    draw_axis();
    data.panels.forEach((panel, p) => {
        const place = layout[p];
        pen.fillStyle = colour_of('--text');
        pen.textAlign = 'left';
        pen.font = '600 13px system-ui, sans-serif';
        pen.fillText(panel.title, 0, place.title + TITLE / 2);
        pen.font = (height_of_row > 15 ? 12 : 10) + 'px system-ui, sans-serif';
        panel.rows.forEach((row, r) => {
            draw_row(panel, row, place.tops[r]);
            if (height_of_row > 15)
                write_names(panel, row, place.tops[r]);
            pen.textAlign = 'right';
            pen.fillStyle = colour_of('--text');
            pen.fillText(row.label, LEFT - 8, place.tops[r] + height_of_row / 2);
        });
        pen.save();
        pen.beginPath();
        pen.rect(LEFT, 0, width - LEFT - RIGHT, layout.height);
        pen.clip();
        draw_arrows(lends_of(panel), place, colour_of('--text'));
        draw_arrows(panel.moves, place, MOVES);
        pen.restore();
        pen.strokeStyle = pen.fillStyle = colour_of('--text');
        pen.textAlign = 'left';
        let free = 0, last = -99; // for a phase's name, right of the one before; where its line is
        for (const [time, text] of panel.phases) {
            if (time < view.begin || time > view.end || x_of(time) - last < 4)
                continue;
            last = x_of(time);
            pen.setLineDash([3, 3]);
            pen.beginPath();
            pen.moveTo(last, place.tops[0] - 4);
            pen.lineTo(last, place.bottom);
            pen.stroke();
            pen.setLineDash([]);
            const x = last + 3;
            if (x < free)
                continue;
            pen.fillText(text, x, place.title + TITLE + PHASE / 2 - 3);
            free = x + pen.measureText(text).width + 6;
        }
        if (panel.end < view.end && panel.end < FULL.end) {
            pen.beginPath();
            pen.moveTo(x_of(panel.end), place.tops[0] - 4);
            pen.lineTo(x_of(panel.end), place.bottom + 4);
            pen.stroke();
        }
    });
    $('span').textContent = time_text(view.begin, unit_of(view.end), 8) + ' .. ' + time_text(view.end, unit_of(view.end), 8);
}
let waiting = false;
function redraw() {
    if (!waiting)
        requestAnimationFrame(() => { waiting = false; draw(); });
    waiting = true;
}

// ---- Looking around ----

function look(begin, end) {
    const span = Math.min(Math.max(end - begin, SHORTEST), FULL.end - FULL.begin);
    begin = Math.min(Math.max(begin, FULL.begin), FULL.end - span);
    [view.begin, view.end] = [begin, begin + span];
    redraw();
}
function zoom(factor, at = (view.begin + view.end) / 2) {
    look(at - (at - view.begin) * factor, at + (view.end - at) * factor);
}
function move(share) {
    const by = (view.end - view.begin) * share;
    look(view.begin + by, view.end + by);
}
chart.addEventListener('wheel', e => {
    e.preventDefault();
    if (Math.abs(e.deltaX) > Math.abs(e.deltaY))
        move(e.deltaX / width);
    else
        zoom(Math.exp(Math.sign(e.deltaY) * Math.min(Math.abs(e.deltaY), 200) * 0.002), time_of(e.offsetX));
}, { passive: false });
const held = new Map(); // pointers: a finger or the mouse pans, two fingers zoom
chart.addEventListener('pointerdown', e => { held.set(e.pointerId, e.offsetX); chart.setPointerCapture(e.pointerId); });
for (const over of ['pointerup', 'pointercancel'])
    chart.addEventListener(over, e => held.delete(e.pointerId));
chart.addEventListener('pointermove', e => {
    if (!held.has(e.pointerId))
        return tell(e);
    const before = [...held.values()], was = held.get(e.pointerId);
    held.set(e.pointerId, e.offsetX);
    if (held.size === 1)
        return move((was - e.offsetX) / (width - LEFT - RIGHT));
    const now = [...held.values()];
    zoom(Math.max(Math.abs(before[0] - before[1]), 1) / Math.max(Math.abs(now[0] - now[1]), 1), time_of((now[0] + now[1]) / 2));
});
chart.addEventListener('dblclick', e => zoom(0.25, time_of(e.offsetX)));
chart.addEventListener('pointerleave', () => { $('tip').style.display = 'none'; });
document.addEventListener('keydown', e => {
    if (e.ctrlKey || e.metaKey || e.altKey)
        return;
    const act = { '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), '0': () => look(FULL.begin, FULL.end),
        ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2) }[e.key];
    if (act) {
        e.preventDefault();
        act();
    }
});
$('in').onclick = () => zoom(0.5);
$('out').onclick = () => zoom(2);
$('all').onclick = () => look(FULL.begin, FULL.end);

// ---- What something is ----

function describe(panel, state, more) {
    const [what, rank, name] = panel.states[state];
    switch (what) {
    case 'chunk':
        return `a chunk of rank ${rank}'s loop ${name}` + (more ? `, iterations ${more[0]} to ${more[1] - 1}` : '');
    case 'loop':
        return `rank ${rank}'s loop ${name}` + (more ? ` of ${more[0]} iterations` : '');
    case 'parallel': return `rank ${rank} in a parallel region: ${name}`;
    case 'compute': return `rank ${rank} outside of shared loops`;
    case 'wait': return `rank ${rank} waits in ${name}`;
    case 'asleep': return 'asleep' + (name ? ' in ' + name : '');
    case 'lent': return `changing hands, to or from rank ${rank}`;
    case 'idle': return 'a spare core without work';
    }
    return 'nothing is known';
}
// What is at a point of the chart; null beside rows.
function hit(x, y) {
    for (let p = 0; p < data.panels.length; p++) {
        const panel = data.panels[p], r = layout[p].tops.findIndex(top => y >= top && y < top + height_of_row), time = time_of(x);
        if (r < 0 || x < LEFT || time < panel.begin || time >= panel.end)
            continue;
        const parts = panel.rows[r].parts, i = part_at(parts, time);
        return { panel: p, row: r, begin: parts.begins[i], end: parts.begins[i + 1], state: parts.states[i] < 0 ? null : panel.states[parts.states[i]],
            text: text_of(panel, panel.rows[r], i) };
    }
    return null;
}
function text_of(panel, row, i) {
    const { begins, states, more } = row.parts, took = begins[i + 1] - begins[i], unit = unit_of(view.end);
    const head = `${row.label}\n${time_text(begins[i], unit, 8)} + ${time_text(took)}\n`;
    if (states[i] >= 0)
        return head + describe(panel, states[i], more[i]);
    return head + [...more[i]].sort((a, b) => b.ns - a.ns).slice(0, 8).map(m =>
        `${(100 * m.ns / took).toFixed(0)} % ${m.count > 1 ? m.count + ' times ' : ''}${describe(panel, m.state)}`).join('\n');
}
// What the arrow at a point says.
function arrow_near(x, y) {
    const unit = unit_of(view.end);
    for (let p = 0; p < data.panels.length; p++) {
        const place = layout[p], panel = data.panels[p];
        if (y < place.tops[0] || y > place.bottom)
            continue;
        const near = arrow => {
            const { x0, y0, x1, y1 } = place_of(arrow, place), along = (y - y0) / (y1 - y0);
            return along >= 0 && along <= 1 && Math.abs(x0 + along * (x1 - x0) - x) < 4;
        };
        const lend = lends_of(panel).find(near), move = panel.moves.find(near);
        if (lend) {
            const [time, , from, , rank, loop, latency] = lend;
            return `${time_text(time, unit, 8)}\n${panel.rows[from].label} is lent to rank ${rank}, for ${panel.loops[loop]}` +
                (latency ? `\n${time_text(latency)} after the claim` : '');
        }
        if (move) {
            const [sent, come, from, to, tasks] = move;
            return `${time_text(sent, unit, 8)} + ${time_text(come - sent)}\n${tasks === 1 ? '1 task moves' : tasks + ' tasks move'} ` +
                `from rank ${panel.rows[from].rank} to rank ${panel.rows[to].rank}`;
        }
    }
    return null;
}
function tell(e) {
    const found = hit(e.offsetX, e.offsetY), text = found ? found.text : arrow_near(e.offsetX, e.offsetY), tip = $('tip');
    tip.style.display = text ? 'block' : 'none';
    if (!text)
        return;
    tip.textContent = text;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(e.clientX + 14, innerWidth - box.width - 8)) + 'px';
    tip.style.top = (e.clientY + 18 + box.height < innerHeight ? e.clientY + 18 : e.clientY - box.height - 8) + 'px';
}

// ---- Beside the chart ----

function legend() {
    $('legend').textContent = '';
    const used = new Set(data.panels.flatMap(p => p.states.map(s => s[0])));
    const ranks = [...new Set(data.panels.flatMap(p => p.states.filter(s => s[0] in FADED).map(s => s[1])))].sort((a, b) => a - b);
    const items = ranks.slice(0, data.colours.length).map(r => ['chunk', r, 'rank ' + r]);
    if (ranks.length > data.colours.length)
        items.push(['lent', 0, `and so on by turns, to rank ${ranks[ranks.length - 1]}`]);
    if (used.has('compute'))
        items.push(['compute', ranks[0], 'pale: outside of shared loops']);
    if (used.has('parallel'))
        items.push(['parallel', ranks[0], 'n threads: a parallel region']);
    for (const [what, text] of [['wait', 'waiting in MPI'], ['asleep', 'asleep'], ['lent', 'changing hands'], ['idle', 'blank: a spare core without work']])
        if (used.has(what))
            items.push([what, 0, text]);
    for (const [what, rank, text] of items) {
        const item = document.createElement('span'), box = document.createElement('canvas');
        box.width = 16;
        box.height = 13;
        const p = box.getContext('2d');
        p.fillStyle = paint(what, rank) || 'transparent';
        p.fillRect(0, 0, 16, 13);
        item.append(box, text);
        $('legend').append(item);
    }
    for (const [arrows, text, colour] of [['lends', 'a core is lent to that rank', ''], ['moves', 'tasks move to that rank', MOVES]])
        if (data.panels.some(p => p[arrows].length)) {
            const item = document.createElement('span'), arrow = document.createElement('span');
            arrow.textContent = '\u2191 ';
            arrow.style.color = colour;
            item.append(arrow, text);
            $('legend').append(item);
        }
}
const COLUMNS = [['compute', 'outside of loops'], ['loops', 'in shared loops'], ['parallel', 'in parallel regions'], ['waiting', 'waiting in MPI'],
    ['asleep', 'asleep'], ['handing', 'changing hands'], ['for_others', 'core used by others'], ['helped', 'computed elsewhere for it']]
    .filter(c => c[0] !== 'parallel' || data.panels.some(p => p.totals.some(t => t.parallel)));
const COUNTS = [['kept', 'chunks kept'], ['stolen', 'chunks run elsewhere'], ['lends', 'lends']];
function tables() {
    for (const panel of data.panels) {
        const box = document.createElement('div'), table = document.createElement('table');
        box.className = 'scroll';
        table.createCaption().textContent = panel.title;
        const line = (cells, tag) => {
            const row = table.insertRow();
            for (const text of cells) {
                const cell = document.createElement(tag);
                cell.textContent = text;
                row.append(cell);
            }
        };
        line(['rank', ...COLUMNS.map(c => c[1]), ...COUNTS.map(c => c[1])], 'th');
        const values = (t, name) => [name, ...COLUMNS.map(c => time_text(t[c[0]])), ...COUNTS.map(c => t[c[0]])];
        panel.totals.slice(0, 256).forEach((t, rank) => line(values(t, rank), 'td'));
        const all = {};
        for (const [key] of [...COLUMNS, ...COUNTS])
            all[key] = panel.totals.reduce((sum, t) => sum + t[key], 0);
        line(values(all, panel.totals.length > 256 ? 'all, ' + panel.totals.length : 'all'), 'td');
        box.append(table);
        $('tables').append(box);
    }
}

function again() {
    mix_paints();
    measure();
    legend();
    draw();
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', again);
addEventListener('resize', () => { measure(); draw(); });
tables();
again();
