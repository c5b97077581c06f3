// SPDX-License-Identifier: Apache-2.0
// Asks for history.json, and then for data.json once a second, and draws them. What it shows comes from these files only, as text, never
// as HTML.
(function () {
  "use strict";

  const EVERY = 1000;
  const PATIENCE = 10000; // Then the process is taken not to answer.
  const KEPT = 300;
  const SPAN = 60; // Seconds that a chart shows at least.
  const MOST_CELLS = 32; // Of the steal matrix, a side; more Ps share cells.
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const COLORS = dark ? ["#5598e7", "#eb7d45", "#2fb98a", "#b08ae0", "#d8b13c"] : ["#2a78d6", "#d9601f", "#128a5e", "#8a4fc7", "#a07a00"];
  const INK = dark ? "#a9a8a1" : "#5d5c57";
  const FONT = "11px system-ui, sans-serif";
  const GRID = dark ? "#2c2b28" : "#eceae5";

  const byId = (id) => document.getElementById(id);
  const sum = (list) => list.reduce((a, b) => a + b, 0);

  function node(parent, tag, text) {
    const n = document.createElement(tag);
    if (text !== undefined) {
      n.textContent = text;
    }
    parent.appendChild(n);
    return n;
  }

  // ---- numbers

  /** The value that a share q of what came between two readings of a histogram is below, in seconds; null when nothing came. */
  function quantile(before, now, q) {
    const was = new Map(before.map((b) => [b[0], b[2]]));
    const came = now.map((b) => [b[1] === null ? b[0] : b[1], b[2] - (was.get(b[0]) || 0)]).filter((b) => b[1] > 0);
    let left = Math.max(1, Math.ceil(q * sum(came.map((b) => b[1]))));
    for (const [high, n] of came) {
      left -= n;
      if (left <= 0) {
        return high;
      }
    }
    return null;
  }

  function short(v) {
    if (v === null || v === undefined) {
      return "–";
    }
    const a = Math.abs(v);
    if (a >= 1e9) {
      return (v / 1e9).toFixed(1) + " G";
    }
    if (a >= 1e6) {
      return (v / 1e6).toFixed(1) + " M";
    }
    if (a >= 1e4) {
      return (v / 1e3).toFixed(1) + " k";
    }
    return a >= 100 || Number.isInteger(v) ? v.toFixed(0) : v.toPrecision(2);
  }

  function duration(s) {
    if (s === null || s === undefined) {
      return "–";
    }
    return s >= 1 ? s.toPrecision(3) + " s" : s >= 1e-3 ? (s * 1e3).toPrecision(3) + " ms" : s >= 1e-6 ? (s * 1e6).toPrecision(3) + " µs"
      : (s * 1e9).toFixed(0) + " ns";
  }

  // Each series is a function of a reading, the one before, and the seconds between them.
  const now = (name) => (m) => m["/sched/" + name];
  const rate = (name) => (m, b, seconds) => {
    const a = m["/sched/" + name];
    const c = b["/sched/" + name];
    return ((Array.isArray(a) ? sum(a) : a) - (Array.isArray(c) ? sum(c) : c)) / seconds;
  };
  const late = (name, q) => (m, b) => quantile(b["/sched/" + name], m["/sched/" + name], q);

  const CHARTS = [
    {title: "Ps", unit: "one on the other", stacked: true, series: [
      ["at work", (m) => Math.max(0, m["/sched/gomaxprocs:threads"] - m["/sched/procs/idle:procs"] - m["/sched/threads/spinning:threads"])],
      ["spinning", (m) => Math.max(0, Math.min(m["/sched/threads/spinning:threads"], m["/sched/gomaxprocs:threads"] - m["/sched/procs/idle:procs"]))],
      ["idle", now("procs/idle:procs")]]}, // A thread may have begun to spin between the reading of the one number and of the other.
    {title: "Queues", unit: "goroutines", series: [
      ["global", now("runqueue/global:goroutines")], ["all local", (m) => sum(m["/sched/runqueue/local:goroutines"])],
      ["longest local", (m) => Math.max(...m["/sched/runqueue/local:goroutines"])]]},
    {title: "Queue of each P", unit: "goroutines, now", bars: "/sched/runqueue/local:goroutines"},
    {title: "Wait for a P", unit: "since the last reading", log: true, series: [
      ["half below", late("latencies:seconds", 0.5)], ["99 % below", late("latencies:seconds", 0.99)],
      ["most", late("latencies:seconds", 1)], ["waking a thread, 99 %", late("wakeups/latencies:seconds", 0.99)]]},
    {title: "Goroutines", unit: "", series: [
      ["waiting", now("goroutines/waiting:goroutines")], ["runnable", now("goroutines/runnable:goroutines")],
      ["running", now("goroutines/running:goroutines")], ["without a P", now("goroutines/not-in-go:goroutines")]]},
    {title: "Runs", unit: "a second", series: [
      ["runs", rate("runs/by-p:goroutines")], ["started", rate("goroutines-created:goroutines")],
      ["from the global queue", rate("runs/global:goroutines")]]},
    {title: "Steals", unit: "a second", series: [
      ["goroutines moved", rate("steals/moved/total:goroutines")], ["successes", rate("steals/succeeded:probes")],
      ["looks in vain", rate("steals/failed:probes")]]},
    {title: "Preemptions and stalls", unit: "a second", series: [
      ["asked to yield", rate("preemptions/asked:events")], ["yielded", rate("preemptions/yielded:events")],
      ["P taken: blocked", rate("stalls/blocked:events")], ["P taken: ran on", rate("stalls/ran:events")],
      ["system calls retaken", rate("syscalls/retaken:events")]]},
    {title: "Threads", unit: "", series: [
      ["all", now("threads/total:threads")], ["asleep", now("threads/idle:threads")], ["run on without a P", now("threads/strays:threads")]]}];

  // ---- charts, by uPlot

  const WIDTH = 404;
  const HEIGHT = 190;
  const plots = [];

  const clock = (t) => new Date(t * 1000).toTimeString().slice(0, 8);

  function axes(c, show) {
    const line = {stroke: GRID, width: 1};
    const x = {stroke: INK, font: FONT, grid: line, ticks: line, space: 70, values: (u, at) => at.map(c.bars ? (v) => Number.isInteger(v) ? "P" + v : "" : clock)};
    const y = {stroke: INK, font: FONT, grid: line, ticks: line, size: 68, values: (u, at) => at.map((v) => v === null ? "" : show(v))};
    if (c.log) { // A line for each power of ten.
      y.filter = (u, at) => at.map((v) => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-6 ? v : null);
      y.grid = y.ticks = Object.assign({filter: y.filter}, line);
    }
    return [x, y];
  }

  function chart(c) {
    const figure = node(byId("charts"), "figure");
    const caption = node(figure, "figcaption", c.title + " ");
    node(caption, "span", c.unit);
    const show = c.log ? duration : short;
    const options = {width: WIDTH, height: HEIGHT, cursor: {drag: {x: false, y: false}}, axes: axes(c, show)};
    if (c.bars) {
      options.series = [{label: "P", value: (u, v) => v == null ? "–" : String(v)},
        {label: "waiting", stroke: COLORS[0], fill: COLORS[0], paths: uPlot.paths.bars({size: [0.7, 60]}), points: {show: false},
          value: (u, v) => short(v)}];
      options.scales = {x: {time: false, range: (u) => [-0.5, Math.max(1, u.data[0].length) - 0.5]},
        y: {range: (u, low, high) => [0, Math.max(4, high)]}};
    } else {
      options.series = [{label: "at", value: (u, v) => v == null ? "–" : clock(v)}].concat(c.series.map((s, i) => ({label: s[0], stroke: COLORS[i], width: 1.5,
        fill: c.stacked ? COLORS[i] + "70" : undefined, points: {show: false},
        value: (u, v, k, at) => show(c.stacked && v != null ? v - (k > 1 ? u.data[k - 1][at] : 0) : v)})));
      if (c.stacked) { // Between each line and the one below it.
        options.bands = c.series.slice(1).map((s, i) => ({series: [i + 2, i + 1]}));
      }
      options.scales = {x: {time: true, range: (u, low, high) => [Math.min(low, high - SPAN), high]}, y: c.log ? {distr: 3, range: (u, low, high) => [Math.min(1e-7, low || 1), Math.max(1e-3, high || 0)]}
        : {range: (u, low, high) => [0, Math.max(4, high * 1.05)]}};
    }
    const plot = new uPlot(options, [[]].concat(options.series.slice(1).map(() => [])), figure);
    plots.push({chart: c, plot: plot, figure: figure});
  }

  /** Each list with all those before it added. */
  function stack(lists) {
    let below = [];
    return lists.map((list) => below = list.map((v, i) => v + (below[i] || 0)));
  }

  function fit() {
    for (const p of plots) {
      p.plot.setSize({width: Math.max(200, p.figure.clientWidth - 12), height: HEIGHT});
    }
  }

  // ---- what is known of each scheduler

  const histories = new Map();
  let process = "";

  function keep(all) {
    if (all.process !== process) { // Another one has that port now.
      histories.clear();
      process = all.process;
    }
    const alive = new Set(all.schedulers.map((s) => s.name));
    for (const name of histories.keys()) {
      if (!alive.has(name)) {
        histories.delete(name);
      }
    }
    for (const s of all.schedulers) {
      let h = histories.get(s.name);
      if (!h) {
        h = {readings: [], times: [], values: CHARTS.map((c) => (c.series || []).map(() => []))};
        histories.set(s.name, h);
      }
      const last = h.readings.at(-1);
      if (last && all.millis <= last.millis) {
        continue; // The same reading again, or one from before the end of the history.
      }
      if (last) {
        h.times.push(all.time / 1000);
        const seconds = (all.millis - last.millis) / 1000;
        CHARTS.forEach((c, i) => (c.series || []).forEach((series, k) => {
          const value = series[1](s.metrics, last.metrics, seconds);
          h.values[i][k].push(c.log && !(value > 0) ? null : value);
        }));
        if (h.times.length > KEPT) {
          h.times.shift();
          h.values.forEach((c) => c.forEach((series) => series.shift()));
        }
      }
      h.now = s;
      h.readings.push({millis: all.millis, metrics: s.metrics});
      if (h.readings.length > 11) {
        h.readings.shift();
      }
    }
  }

  // ---- drawing

  function select(names) {
    const box = byId("schedulers");
    const old = Array.from(box.options, (o) => o.value);
    if (old.join("\n") !== names.join("\n")) {
      const chosen = box.value;
      box.replaceChildren();
      names.forEach((name) => {
        node(box, "option", name).value = name;
      });
      if (names.includes(chosen)) {
        box.value = chosen;
      }
    }
    return box.value;
  }

  function numbers(m) {
    const list = byId("numbers");
    list.replaceChildren();
    const put = (name, value) => {
      const pair = node(list, "div");
      node(pair, "dt", name);
      node(pair, "dd", value);
    };
    put("Ps", short(m["/sched/gomaxprocs:threads"]));
    put("threads", short(m["/sched/threads/total:threads"]));
    put("goroutines", short(m["/sched/goroutines:goroutines"]));
    put("started", short(m["/sched/goroutines-created:goroutines"]));
    put("steals", short(m["/sched/steals/succeeded:probes"]));
    put("preemptions", short(m["/sched/preemptions/yielded:events"]));
    put("stalls", short(m["/sched/stalls/blocked:events"] + m["/sched/stalls/ran:events"]));
    put("timers", short(m["/sched/timers:timers"]));
    put("network waits", short(m["/sched/netpoll/waiting:goroutines"]));
    put("waited for locks", duration(m["/sync/mutex/wait/total:seconds"]));
  }

  function symptoms(found) {
    const list = byId("symptoms").querySelector("ul");
    list.replaceChildren();
    found.forEach((s) => node(list, "li", s.text + ".").id = s.kind);
    if (found.length === 0) {
      node(list, "li", "None in the last second.").className = "none";
    }
  }

  function states(all) {
    const table = byId("states");
    table.replaceChildren();
    Object.entries(all).sort((a, b) => b[1] - a[1]).slice(0, 15).forEach(([state, n]) => {
      const row = node(table, "tr");
      node(row, "td", short(n));
      node(row, "td", state);
    });
  }

  /** What was stolen since the oldest reading that is kept. */
  function steals(h) {
    const oldest = h.readings.find((r) => "/sched/steals/moved:goroutines" in r.metrics); // Those of the history have none.
    const last = h.readings.at(-1);
    const ps = last.metrics["/sched/runqueue/local:goroutines"].length;
    const together = Math.ceil(ps / MOST_CELLS);
    const size = Math.ceil(ps / together);
    const cells = Array.from({length: size}, () => new Array(size).fill(0));
    const add = (moved, sign) => moved.forEach(([thief, victim, n]) => {
      if (thief < ps && victim < ps) {
        cells[Math.floor(thief / together)][Math.floor(victim / together)] += sign * n;
      }
    });
    add(last.metrics["/sched/steals/moved:goroutines"], 1);
    add(oldest.metrics["/sched/steals/moved:goroutines"], -1);
    const most = Math.max(1, ...cells.flat());
    byId("stealsNote").textContent = "In the last " + ((last.millis - oldest.millis) / 1000).toFixed(0) + " s"
      + (together > 1 ? "; " + together + " Ps to a cell." : ".");
    const label = (i) => "P" + i * together;
    const table = byId("steals");
    table.replaceChildren();
    const head = node(table, "tr");
    node(head, "th", "");
    cells.forEach((row, i) => node(head, "th", label(i)));
    cells.forEach((row, i) => {
      const tr = node(table, "tr");
      node(tr, "th", label(i));
      row.forEach((n, k) => {
        const td = node(tr, "td", n === 0 ? "" : short(n));
        td.style.background = "color-mix(in srgb, " + COLORS[0] + " " + Math.round(70 * n / most) + "%, transparent)";
      });
    });
  }

  function draw() {
    const h = histories.get(select(Array.from(histories.keys())));
    const live = h && h.now.states;
    byId("tables").hidden = !live;
    byId("symptoms").hidden = !live;
    if (!live) {
      byId("numbers").replaceChildren();
      return;
    }
    numbers(h.now.metrics);
    symptoms(h.now.symptoms);
    states(h.now.states);
    steals(h);
    plots.forEach((p, i) => {
      if (p.chart.bars) {
        const values = h.now.metrics[p.chart.bars];
        p.plot.setData([values.map((v, k) => k), values]);
      } else {
        p.plot.setData([h.times].concat(p.chart.stacked ? stack(h.values[i]) : h.values[i]));
        if (p.plot.cursor.idx === null || p.plot.cursor.left < 0) { // Nobody points at it: the latest.
          p.plot.setLegend({idx: h.times.length - 1});
        }
      }
    });
  }

  let heard = Date.now();

  function say(text, old) {
    byId("state").textContent = text;
    byId("state").className = old ? "old" : "";
  }

  async function ask() {
    try {
      const answer = await fetch("data.json", {cache: "no-store", signal: AbortSignal.timeout(PATIENCE)});
      if (!answer.ok) {
        throw new Error("it says " + answer.status);
      }
      const all = await answer.json();
      heard = Date.now();
      keep(all);
      draw();
      say(all.schedulers.length === 0 ? "No scheduler lives in this process." : "Live, a reading a second.", false);
    } catch (e) {
      say("No answer for " + Math.round((Date.now() - heard) / 1000) + " s: the process has ended, or is stopped.", true);
    }
    setTimeout(ask, EVERY);
  }

  /** What was before this page was opened. */
  async function before() {
    try {
      const answer = await fetch("history.json", {cache: "no-store", signal: AbortSignal.timeout(PATIENCE)});
      if (answer.ok) {
        (await answer.json()).forEach(keep);
      }
    } catch (e) {
      return; // The page then begins with the first reading.
    }
  }

  CHARTS.forEach(chart);
  fit();
  addEventListener("resize", fit);
  byId("schedulers").addEventListener("change", draw);
  before().then(ask);
})();
