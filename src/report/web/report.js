'use strict';
// Draws what the element "data" holds. Times in it are nanoseconds, sizes bytes. All series begin at 0, and
// their bins are powers of two times one width, so the finest one's grid fits all.
(function () {
  const data = JSON.parse(document.getElementById('data').textContent);
  const main = document.getElementById('main');
  const charts = [];  // those over time, linked

  // ---- small helpers
  function make(tag, attributes, ...children) {
    const e = document.createElement(tag);
    for (const [k, v] of Object.entries(attributes || {})) {
      if (k === 'class') e.className = v; else if (k === 'style') e.style.cssText = v; else e[k] = v;
    }
    for (const c of children) e.append(c);
    return e;
  }
  function section(title, note, parent) {
    const s = make('section', {}, make('h2', {}, title));
    if (note) s.append(make('p', {class: 'note'}, note));
    (parent || main).append(s);
    return s;
  }
  function digits(v, n) {
    if (v === 0) return '0';
    return Math.abs(v) >= 1e6 ? String(Math.round(v)) : String(Number(v.toPrecision(n || 4)));
  }
  function bytes(v) {
    if (v < 1024) return digits(v) + ' B';
    return v < 1048576 ? digits(v / 1024) + ' KiB' : digits(v / 1048576) + ' MiB';
  }
  function ns(v) {
    if (v < 1e4) return digits(v, 5) + ' ns';
    if (v < 1e7) return digits(v / 1e3, 5) + ' us';
    return v < 1e10 ? digits(v / 1e6, 5) + ' ms' : digits(v / 1e9, 5) + ' s';
  }
  const units = [[1e4, 1, 'ns'], [1e7, 1e3, 'us'], [1e10, 1e6, 'ms'], [Infinity, 1e9, 's']];
  const [, unit_ns, unit] = units.find(u => data.end_ns < u[0]);
  const palette = ['#1f6fb2', '#d9541e', '#2f8f4e', '#8e44ad', '#c2185b', '#8a6d1d', '#0097a7', '#5d4037',
                   '#7cb342', '#546e7a'];
  function colour(i) {
    return i < palette.length ? palette[i] : `hsl(${(i * 137.5) % 360} 55% ${38 + (i % 3) * 9}%)`;
  }
  function some(part, what) {
    const n = part.series.length;
    return part.of > n ? `${n} of ${part.of} ${what} drawn, those with most; all are in series.csv. ` : '';
  }

  // ---- charts over time
  const every = [data.queues, data.paused, data.windows, data.xoff, data.flows, data.marks].filter(Boolean)
    .flatMap(p => p.series).filter(s => s.values && s.values.length);
  const width = every.length ? Math.min(...every.map(s => s.width_ns)) : 1;
  const count = every.length ? Math.max(...every.map(s => Math.ceil(s.values.length * s.width_ns / width))) : 0;
  const valueAt = (s, i) => {
    const v = s.values[Math.floor(i * width / s.width_ns)];
    return v === undefined ? 0 : v;
  };
  function grid(series, convert) {
    const rows = [];
    for (let i = 0; i < count; ++i) {
      rows.push([i * width / unit_ns, ...series.map(s => convert(valueAt(s, i), s.width_ns))]);
    }
    return rows;
  }
  let linking = false;
  function link(graph) {
    charts.push(graph);
    return graph;
  }
  function zoomed(from) {
    if (linking) return;
    linking = true;
    const range = from.isZoomed('x') ? from.xAxisRange() : null;
    for (const g of charts) if (g !== from) g.updateOptions({dateWindow: range});
    linking = false;
  }
  function selected(from, row) {
    if (linking) return;
    linking = true;
    for (const g of charts) if (g !== from) row < 0 ? g.clearSelection() : g.setSelection(row);
    linking = false;
  }
  function legend(box, series, extra, show) {
    const at = make('div', {class: 'at'}, '\u00a0');
    const values = [];
    const list = make('div', {class: 'legend'}, at);
    series.forEach((s, i) => {
      const value = make('b');
      const b = make('button', {title: s.name + ' (click to hide or show)'},
                     make('i', {style: 'background:' + colour(i)}), make('span', {}, s.name), value);
      b.onclick = () => { b.classList.toggle('off'); show(i, !b.classList.contains('off')); };
      values.push(value);
      list.append(b);
    });
    for (const l of extra || []) {
      list.append(make('button', {title: l.name},
                       make('i', {class: 'dash', style: 'border-color:' + l.colour}),
                       make('span', {}, l.name), make('b', {}, l.text)));
    }
    box.append(list);
    return {at, values};
  }
  function overTime(title, note, series, convert, format, options) {
    const s = section(title, note);
    const box = make('div', {class: 'row'});
    const plot = make('div', {class: 'plot' + (options.tall ? ' tall' : '')});
    box.append(plot);
    s.append(box);
    let graph = null;
    const key = legend(box, series, options.lines, (i, on) => graph.setVisibility(i, on));
    const blank = () => { key.at.textContent = '\u00a0'; key.values.forEach(v => { v.textContent = ''; }); };
    graph = new Dygraph(plot, grid(series, convert), Object.assign({
      labels: ['t', ...series.map((x, i) => 's' + i)], colors: series.map((x, i) => colour(i)),
      stepPlot: true, strokeWidth: 1.2, includeZero: true, legend: 'never', animatedZooms: false,
      gridLineColor: '#e8edf2', axisLineColor: '#b8c4d0', xRangePad: 0,
      highlightSeriesOpts: series.length > 1 ? {strokeWidth: 2.4} : undefined,
      highlightSeriesBackgroundAlpha: 0.6, highlightCircleSize: 2,
      axes: {x: {axisLabelFormatter: v => digits(v, 6) + ' ' + unit, axisLabelWidth: 80, pixelsPerLabel: 100},
             y: {axisLabelFormatter: format, axisLabelWidth: 96, labelsKMG2: format === bytes}},
      highlightCallback: (e, x, points, row) => {
        key.at.textContent = 'at ' + digits(x, 7) + ' ' + unit;
        points.forEach(p => { key.values[Number(p.name.slice(1))].textContent = format(p.yval); });
        selected(graph, row);
      },
      unhighlightCallback: () => { blank(); selected(graph, -1); },
      drawCallback: (g, first) => { if (!first) zoomed(g); },
    }, options.dygraph));
    return link(graph);
  }

  function queues() {
    if (!data.queues.series.length) return;
    const peak = Math.max(...data.queues.series.flatMap(s => s.values));
    const tones = {kmin: '#2f8f4e', kmax: '#b3261e'};
    const lines = data.lines.map(l => ({name: l.name, bytes: l.bytes, text: bytes(l.bytes),
                                        colour: tones[l.name] || '#8a6d1d'}));
    const near = lines.filter(l => l.bytes <= 3 * peak).map(l => l.bytes);
    const top = Math.max(peak, ...near) * 1.06;
    overTime('Queues of the switches',
             some(data.queues, 'queues') + 'The greatest depth in each bin, bytes in whole cells. Drag to zoom, '
             + 'double-click to zoom out; all charts over time follow. A group\'s XOFF counts what one input '
             + 'port has stored, so with N senders a queue may hold N times that.',
             data.queues.series, v => v, bytes,
             {lines, tall: true, dygraph: {
               valueRange: [0, top],
               underlayCallback: (ctx, area, g) => {
                 ctx.save();
                 ctx.setLineDash([6, 4]);
                 ctx.font = '11px sans-serif';
                 lines.forEach((l, n) => {
                   const y = g.toDomYCoord(l.bytes);
                   if (!(y > area.y && y < area.y + area.h)) return;
                   ctx.strokeStyle = ctx.fillStyle = l.colour;
                   ctx.beginPath();
                   ctx.moveTo(area.x, y);
                   ctx.lineTo(area.x + area.w, y);
                   ctx.stroke();
                   ctx.fillText(l.name + ' ' + l.text, area.x + 6 + 110 * n, y - 3);
                 });
                 ctx.restore();
               }}});
  }

  function bands() {
    const series = data.paused.series.slice(0, 32);
    if (!series.length) return;
    const s = section('Paused by PFC', some(data.paused, 'pauses') + 'Bands: when a host\'s priority or a '
                      + 'switch\'s queue was told to stand still; paler where it was for part of a bin.');
    const box = make('div', {class: 'row'});
    const plot = make('div', {class: 'plot', style: `height:${Math.max(60, series.length * 18 + 34)}px`});
    box.append(plot, make('div', {class: 'legend'}));
    s.append(box);
    const total = x => x.values.reduce((a, b) => a + b, 0);
    series.forEach((x, i) => box.lastChild.append(make('button', {title: x.name},
      make('i', {style: 'background:' + colour(i)}), make('span', {}, x.name), make('b', {}, ns(total(x))))));
    const rows = [];
    for (let i = 0; i < count; ++i) rows.push([i * width / unit_ns, 0]);
    let graph = null;
    graph = new Dygraph(plot, rows, {
      labels: ['t', 'none'], legend: 'never', valueRange: [0, series.length], xRangePad: 0,
      plotter: () => {}, drawHighlightPointCallback: () => {}, axisLineColor: '#b8c4d0',
      axes: {x: {axisLabelFormatter: v => digits(v, 6) + ' ' + unit, axisLabelWidth: 80, pixelsPerLabel: 100,
                 drawGrid: false},
             y: {axisLabelWidth: 96, drawGrid: false, ticker: () =>
               series.map((x, i) => ({v: series.length - i - 0.5, label: x.name.replace(' priority ', ' p')}))}},
      underlayCallback: (ctx, area, g) => {
        const [first, last] = g.xAxisRange();
        series.forEach((x, i) => {
          const y = g.toDomYCoord(series.length - i), h = g.toDomYCoord(series.length - i - 1) - y;
          ctx.fillStyle = colour(i);
          x.values.forEach((v, n) => {
            const t = n * x.width_ns / unit_ns, w = x.width_ns / unit_ns;
            if (v === 0 || t > last || t + w < first) return;
            const left = Math.max(area.x, g.toDomXCoord(t));
            const right = Math.min(area.x + area.w, g.toDomXCoord(t + w));
            ctx.globalAlpha = 0.2 + 0.8 * Math.min(1, v / x.width_ns);
            ctx.fillRect(left, y + 2, Math.max(0.6, right - left), h - 4);
          });
        });
        ctx.globalAlpha = 1;
      },
      highlightCallback: (e, x, points, row) => selected(graph, row),
      unhighlightCallback: () => selected(graph, -1),
      drawCallback: (g, first) => { if (!first) zoomed(g); },
    });
    link(graph);
  }

  function overTimeCharts() {
    if (count === 0) return;
    if (data.queues) queues();
    if (data.paused) bands();
    const rate = v => digits(v, 4) + ' Gb/s';
    if (data.flows.series.length) {
      overTime('Rate of each flow', some(data.flows, 'flows') + 'Received, L2 bits with FCS, mean over each bin of '
               + ns(width) + '.', data.flows.series, (v, w) => v * 8 / w, rate, {});
    }
    const per = v => digits(v, 4) + '/us';
    const marks = data.marks.series.filter(s => s.values.some(v => v > 0));
    if (marks.length) {
      overTime('Marks and notifications', 'Frames a microsecond: received with CE, and CNPs received.', marks,
               (v, w) => v * 1e3 / w, per, {});
    }
    if (data.windows && data.windows.series.length) {
      overTime('Congestion windows of TCP', some(data.windows, 'streams') + 'Segments, the widest in each bin.',
               data.windows.series, v => v, v => digits(v, 6), {});
    }
    if (data.xoff && data.xoff.series.length) {
      overTime('Pause frames received', some(data.xoff, 'series') + 'Those that stop a priority, frames a microsecond.',
               data.xoff.series, (v, w) => v * 1e3 / w, per, {});
    }
  }

  // ---- distributions, over the logarithm of time
  function logTicks(from, to, pixels) {
    const ticks = [], many = (to - from) > 2.5;
    for (let d = Math.floor(from); d <= Math.ceil(to); ++d) {
      for (const m of many ? [1, 3] : [1, 1.5, 2, 3, 5, 7]) {
        const at = d + Math.log10(m);
        if (at >= from && at <= to) ticks.push({v: at, label: ns(m * Math.pow(10, d))});
      }
    }
    if (ticks.length >= 3) return ticks;
    const n = Math.max(2, Math.floor(pixels / 110));
    for (let i = 0; i <= n; ++i) {
      const at = from + (to - from) * i / n;
      ticks.push({v: at, label: ns(Number(Math.pow(10, at).toPrecision(4)))});
    }
    return ticks.slice(-n - 1);
  }
  function cdf(title, note, part, parent) {
    const series = part.series;
    if (!series.length) return;
    const s = section(title, some(part, 'flows') + note, parent);
    const low = Math.max(1, Math.min(...series.map(x => x.points[0][0])));
    const high = Math.max(low + 1, ...series.map(x => x.points[x.points.length - 1][0]));
    const rows = [], steps = 600, next = series.map(() => 0), value = series.map(() => 0);
    for (let i = 0; i <= steps; ++i) {
      const x = i === steps ? high : low * Math.pow(high / low, i / steps);
      rows.push([Math.log10(x), ...series.map((one, n) => {
        while (next[n] < one.points.length && one.points[next[n]][0] <= x * (1 + 1e-9)) {
          value[n] = one.points[next[n]++][1] / 1e4;
        }
        return value[n];
      })]);
    }
    const box = make('div', {class: 'row'}), plot = make('div', {class: 'plot'});
    box.append(plot);
    s.append(box);
    let graph = null;
    const key = legend(box, series, [], (i, on) => graph.setVisibility(i, on));
    graph = new Dygraph(plot, rows, {
      labels: ['ns', ...series.map((x, i) => 's' + i)], colors: series.map((x, i) => colour(i)),
      legend: 'never', strokeWidth: 1.4, valueRange: [0, 101], gridLineColor: '#e8edf2', axisLineColor: '#b8c4d0',
      stepPlot: true, highlightCircleSize: 2, xRangePad: 4,
      highlightSeriesOpts: series.length > 1 ? {strokeWidth: 2.4} : undefined,
      axes: {x: {axisLabelWidth: 70, ticker: logTicks},
             y: {axisLabelFormatter: v => v + ' %', axisLabelWidth: 48}},
      highlightCallback: (e, x, points) => {
        key.at.textContent = 'up to ' + ns(Math.pow(10, x));
        points.forEach(p => { key.values[Number(p.name.slice(1))].textContent = digits(p.yval, 5) + ' %'; });
      },
      unhighlightCallback: () => { key.at.textContent = '\u00a0'; key.values.forEach(v => { v.textContent = ''; }); },
    });
  }

  // ---- tables: columns are [title, row -> value, how it is shown]; a click on a title sorts
  function table(title, note, rows, columns, sortBy) {
    if (!rows.length) return;
    columns = columns.filter(c => !c[3] || rows.some(r => c[1](r)));
    const s = section(title, note);
    const body = make('tbody'), head = make('tr');
    let by = -1, down = true;
    function show(v, how) {
      if (v === null || v === undefined) return '-';
      if (how) return how(v);
      return typeof v === 'number' ? String(v) : String(v);
    }
    function fill() {
      const sorted = rows.slice();
      if (by >= 0) {
        const value = columns[by][1];
        sorted.sort((a, b) => {
          const x = value(a), y = value(b);
          if (x === null || x === undefined) return 1;
          if (y === null || y === undefined) return -1;
          const order = typeof x === 'number' && typeof y === 'number' ? x - y
            : String(x).localeCompare(String(y), undefined, {numeric: true});
          return down ? -order : order;
        });
      }
      body.replaceChildren(...sorted.map(r => make('tr', {}, ...columns.map(c => {
        const v = c[1](r);
        const text = typeof v === 'string' || typeof v === 'boolean';
        const cell = make('td', {class: text ? 'text' : ''}, show(v, c[2]));
        if (typeof v === 'boolean') { cell.textContent = v ? 'yes' : 'NO'; cell.classList.add(v ? 'yes' : 'no'); }
        return cell;
      }))));
      [...head.children].forEach((h, i) => { h.classList.remove('up', 'down');
                                             if (i === by) h.classList.add(down ? 'down' : 'up'); });
    }
    columns.forEach((c, i) => {
      const first = rows.map(c[1]).find(v => v !== null && v !== undefined);
      const text = typeof first === 'string' || typeof first === 'boolean';
      const h = make('th', {class: text ? 'text' : '', title: 'Click to sort'}, c[0]);
      h.onclick = () => { down = by === i ? !down : !text; by = i; fill(); };
      head.append(h);
    });
    if (sortBy !== undefined) by = columns.findIndex(c => c[0] === sortBy);
    fill();
    s.append(make('div', {class: 'scroll'}, make('table', {}, make('thead', {}, head), body)));
  }

  const percent = v => digits(100 * v, 4) + ' %';
  const gbps = v => digits(v, 5);
  const causes = o => Object.entries(o).map(([k, v]) => v + ' ' + k).join(', ');
  function runTables(r) {
    table('Expectations', '', r.expectations, [['Expectation', e => e.text], ['Holds', e => e.holds],
      ['Expected', e => e.expected], ['Seen', e => e.seen]]);
    table('Flows', 'Rates in Gb/s: L1 with preamble and gap, L2 without.', r.flows, [['Flow', f => f.flow_name],
      ['Sent', f => f.data_frames_tx], ['Received', f => f.data_frames_rx], ['Lost', f => f.lost],
      ['Reordered', f => f.reordered], ['Duplicated', f => f.duplicated], ['CE', f => f.ecn_ce_rx],
      ['CE share', f => f.ecn_ce_share, percent], ['L1 wanted', f => f.wanted_rate_l1_gbps, gbps],
      ['L1 sent', f => f.tx_rate_l1_gbps, gbps], ['L2 received', f => f.rx_rate_l2_gbps, gbps],
      ['Goodput', f => f.goodput_gbps, gbps], ['Delay p50', f => f.latency_ns.p50, ns],
      ['p99', f => f.latency_ns.p99, ns], ['max', f => f.latency_ns.max, ns],
      ['CNP', f => f.cnp_rx, null, true], ['NAK', f => f.nak_rx, null, true],
      ['Sent again', f => f.data_frames_retransmitted, null, true], ['Timeouts', f => f.timeouts, null, true],
      ['TCP window max', f => f.tcp_window_max, null, true], ['ECN cuts', f => f.ecn_cuts, null, true],
      ['Completion p99', f => f.flow_completion_time_ns.p99, ns, true], ['Jain', f => f.jain, v => digits(v, 4), true]]);
    if (r.fabric) fabricTables(r.fabric);
    table('Ports', '', r.ports, [['Port', p => p.name], ['Driver', p => p.driver],
      ['Link [Gb/s]', p => p.link_rate_gbps, gbps], ['Sent', p => p.tx_frames], ['Received', p => p.rx_frames],
      ['TX errors', p => p.tx_errors], ['Missed', p => p.rx_missed], ['No buffer', p => p.rx_no_buffer],
      ['RX errors', p => p.rx_errors], ['PFC', p => p.pfc_rx], ['Malformed', p => p.malformed_rx],
      ['Foreign', p => p.foreign_rx], ['Schedule paused', p => p.schedule_paused_ns.reduce((a, b) => a + b, 0), ns]]);
    table('Pause storms', 'XOFF held without a lapse, or not, and who saw it.', r.storms || [], [['Storm', x => x.name],
      ['Port', x => x.port], ['Proven', x => x.proven], ['Proof', x => x.proof], ['XOFF frames', x => x.xoff_frames],
      ['XON frames', x => x.xon_frames], ['Quanta last', x => x.quanta_time_ns, ns], ['Refresh', x => x.refresh_ns, ns],
      ['Longest gap', x => x.longest_gap_ns, ns], ['Lapses', x => x.lapses], ['Lapsed', x => x.lapsed_ns, ns],
      ['Near the limit', x => x.near_limit], ['Held up', x => x.held_up], ['Pause offered', x => x.pause_offered_ns, ns],
      ['Pause frames in', x => x.pause_rx], ['Confirmed by', x => x.confirmed_by]]);
    const kernel = r.ports.flatMap(p => Object.entries(p.kernel_counters || {}).map(([name, value]) => (
      {port: p.name, name, value})));
    table('Counters of the kernel', 'What they moved during the run, from sysfs, ethtool and rdma.',
      kernel.filter(x => x.value !== 0), [['Port', x => x.port], ['Counter', x => x.name], ['Moved by', x => x.value]]);
    const streams = r.streams;
    table('Streams', data.streams_of > streams.length
      ? `${streams.length} of ${data.streams_of}; all are in report.json.` : '', streams, [
      ['Stream', x => x.stream], ['Flow', x => x.flow_name], ['From', x => x.source_host],
      ['To', x => x.destination_host], ['Destination QP', x => x.dest_qp], ['UDP port', x => x.udp_source_port],
      ['Sent', x => x.data_frames_tx], ['Received', x => x.data_frames_rx], ['Lost', x => x.lost],
      ['Reordered', x => x.reordered], ['CE', x => x.ecn_ce_rx], ['Delay mean', x => x.avg_latency_ns, ns],
      ['max', x => x.max_latency_ns, ns]]);
  }
  function fabricTables(f) {
    const queues = [], groups = [], ends = [];
    for (const s of f.switches) for (const p of s.ports) {
      for (const q of p.queues) queues.push(Object.assign({port: p.name, peer: p.peer}, q));
      for (const g of p.groups) groups.push(Object.assign({port: p.name, peer: p.peer}, g));
      ends.push(p);
    }
    table('Queues (egress)', '', queues, [['Port', q => q.port], ['Towards', q => q.peer], ['Queue', q => q.queue],
      ['Sent', q => q.tx_frames], ['Peak', q => q.peak_bytes, bytes], ['Peak at', q => q.peak_at_ns, ns],
      ['CE marked', q => q.ce_marked], ['Paused', q => q.paused_ns, ns],
      ['Dropped', q => causes(q.drops_by_cause), null, true]], 'Peak');
    table('Priority groups (ingress)', 'What one input port has stored of one priority group, and how it paused its '
      + 'sender.', groups, [['Port', g => g.port], ['From', g => g.peer], ['Group', g => g.group],
      ['Received', g => g.rx_frames], ['Peak', g => g.peak_bytes, bytes], ['Headroom peak', g => g.headroom_peak_bytes, bytes],
      ['XOFFs', g => g.xoffs], ['XONs', g => g.xons], ['Held its sender', g => g.xoff_ns, ns],
      ['Dropped', g => causes(g.drops_by_cause), null, true]], 'Peak');
    table('Faults', '', f.faults || [], [['Fault', x => x.type], ['Of', x => x.of], ['At', x => x.at_ns, ns],
      ['For', x => x.duration_ns, ns], ['Rerouted after', x => x.reroute_ns, ns],
      ['First frame after', x => x.first_frame_ns, ns], ['Lost until the next', x => x.lost],
      ['Last loss after', x => x.last_loss_ns, ns], ['Recovered after', x => x.recovery_ns, ns],
      ['Causes', x => causes(x.drops_by_cause)]]);
  }

  function captureTables() {
    const r = data.report, sum = o => Object.values(o || {}).reduce((a, b) => a + (b || 0), 0);
    const start = (r.capture && r.capture.first_ns) || 0, since = v => v - start;
    table('Flows', data.flows_of > r.flows.length ? `${r.flows.length} of ${data.flows_of}; all are in report.json.` : '',
      r.flows, [['Source', f => f.source], ['Destination', f => f.destination], ['QP', f => f.dest_qp],
      ['Space', f => f.space], ['Frames', f => f.frames], ['Payload', f => f.payload_bytes, bytes],
      ['Messages', f => f.messages], ['CE share', f => f.ecn.ce / Math.max(1, sum(f.ecn) - f.ecn.not_ect), percent],
      ['Lost at first', f => f.psn && f.psn.lost_first_pass], ['Missing', f => f.psn && f.psn.missing_at_end],
      ['Sent again', f => f.psn && f.psn.retransmitted], ['Duplicated', f => f.psn && f.psn.duplicated],
      ['Reordered', f => f.psn && f.psn.reordered], ['Capture gap', f => f.psn && f.psn.capture_gap],
      ['Stalled', f => f.psn && f.psn.stall_ns, ns], ['First', f => since(f.first_ns), ns],
      ['Last', f => since(f.last_ns), ns]], 'Payload');
    const events = r.timeline && (Array.isArray(r.timeline) ? r.timeline : r.timeline.events);
    if (events) {
      const more = ['ns', 'kind', 'frame', 'text', 'flow'];
      table('Timeline', 'From the first frame on.', events.slice(0, 2000), [['At', e => since(e.ns), ns],
        ['What', e => e.kind], ['Frame', e => e.frame], ['Flow', e => e.flow],
        ['Details', e => e.text || Object.entries(e).filter(([k, v]) => !more.includes(k) && v !== null)
          .map(([k, v]) => k + ' ' + (typeof v === 'object' ? JSON.stringify(v) : v)).join(', ')]]);
    }
  }

  function evidence() {
    const s = section('Evidence', 'What this report was made from. The same numbers are in report.json, the series in '
                      + 'series.csv; docs/metrics.md defines them.');
    const fold = (name, text) => {
      if (!text) return;
      s.append(make('details', {}, make('summary', {}, name), make('pre', {}, text)));
    };
    const e = (data.report && data.report.evidence) || {};
    fold('Profile', e.profile_text);
    fold('Testbed', e.testbed_text);
    for (const n of (data.report && data.report.notes) || []) s.append(make('p', {class: 'note'}, n));
    if (data.meta) fold('Versions and machine', JSON.stringify(data.meta, null, 2));
    const meta = data.meta || {};
    main.append(make('footer', {}, `rocegen ${meta.rocegen_version || ''}, ${meta.wall_start_utc || ''}. `
                     + 'Charts: dygraphs (MIT).'));
  }

  overTimeCharts();
  if (data.latency) {
    cdf('One-way delay', 'Share of frames that took no longer.', data.latency);
  }
  if (data.completion && data.completion.series.length) {
    cdf('Message completion time', 'Share of messages (what is sent at a time) that took no longer.', data.completion);
  }
  if (data.fct && data.fct.series.length) {
    cdf('Flow completion time', 'Share of streams with a limit that took no longer, from the first departure to the last '
        + 'arrival.', data.fct);
  }
  if (data.kind === 'run') runTables(data.report);
  if (data.kind === 'capture') captureTables();
  evidence();
})();
