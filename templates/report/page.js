"use strict";
(() => {
  const report = JSON.parse(document.getElementById("data").textContent);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const number = new Intl.NumberFormat("en", { maximumSignificantDigits: 6 });
  const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 4 });
  const whole = new Intl.NumberFormat("en");
  const charts = new Map();
  const off = new Set();
  const HEIGHT = 260; // of a drawing, in pixels
  const MARGIN = 8; // pixels within which the cursor is at a mark
  let moving = false;

  let axis = "step", smoothing = 0; // smoothing: the part of all steps over which a weight falls to 1/e

  /* When a step was completed the last time, in seconds since 1970; null if that is unknown. */
  const time = (step) => {
    const [steps, seconds] = report.times;
    let low = 0, high = steps.length - 1;
    if (high < 1 || step < steps[low] || step > steps[high]) return null;
    while (high - low > 1) {
      const mid = (low + high) >> 1;
      if (steps[mid] <= step) low = mid; else high = mid;
    }
    return seconds[low] + (seconds[high] - seconds[low]) * (step - steps[low]) / (steps[high] - steps[low]);
  };
  const PLACES = { step: (step) => step, tokens: (step) => step * report.tokens, time };
  const place = (step) => PLACES[axis](step);
  const spot = (mark) => (axis === "time" && mark.kind === "launch" && mark.at ? Date.parse(mark.at) / 1000 : place(mark.step));
  const utc = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ");
  const WORDS = { step: (x) => "step " + whole.format(x), tokens: (x) => short.format(x) + " tokens", time: (x) => utc(x) + " UTC" };
  const lines = (series) => series.lines.filter((line) => axis !== "time" || line.lane === 0); // what was done again has no time here

  /* All charts show the same part of the axis. */
  const extent = () => {
    const found = [Infinity, -Infinity];
    const reach = (step) => {
      const x = place(step);
      if (x == null) return;
      found[0] = Math.min(found[0], x);
      found[1] = Math.max(found[1], x);
    };
    for (const chart of report.charts) for (const series of chart.series) {
      for (const line of lines(series)) for (const step of axis === "time" ? line.x : [line.x[0], line.x[line.x.length - 1]]) reach(step);
      for (const ends of series.bad) ends.forEach(reach);
    }
    if (axis === "time") for (const mark of report.marks) if (mark.kind === "launch" && mark.at) {
      const x = spot(mark), near = (found[1] - found[0]) / 10;
      if (x < found[0] && found[0] - x < near) found[0] = x;
    }
    if (axis !== "time") for (const mark of report.marks) if (mark.kind === "launch" && place(mark.step + 1) === found[0]) found[0] = place(mark.step); // the step before the first row
    if (!(found[1] > found[0])) found[1] = found[0] + 1;
    return found;
  };
  let all = extent(), range = all;

  const zoom = (min, max) => {
    const width = Math.max(max - min, axis === "tokens" ? 2 * report.tokens : 2);
    min = Math.max(all[0], min);
    max = Math.min(all[1], Math.max(max, min + width));
    if (moving || !(max > min)) return;
    moving = true;
    range = [min, max];
    for (const { plot } of charts.values()) plot.setScale("x", { min, max });
    moving = false;
  };

  const wide = (by) => {
    const [{ plot }] = charts.values();
    const { min, max } = plot.scales.x;
    const at = plot.cursor.idx == null ? (min + max) / 2 : plot.data[0][plot.cursor.idx];
    zoom(at - (at - min) * by, at + (max - at) * by);
  };

  const shown = (mark) => !off.has(mark.kind) && !(mark.kind === "attempt" && off.has("launch"));

  const draw = (plot, chart) => {
    const ctx = plot.ctx, dot = devicePixelRatio || 1, { left, top, width, height } = plot.bbox;
    const bottom = top + height;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left - 6 * dot, 0, width + 12 * dot, bottom + 8 * dot);
    ctx.clip();
    ctx.font = `${11 * dot}px system-ui, "DejaVu Sans", sans-serif`;
    ctx.textAlign = "left";
    ctx.textBaseline = "alphabetic";
    let labelled = { launch: -Infinity, phase: -Infinity };
    const line = (x, name, dash) => {
      ctx.strokeStyle = colour(name);
      ctx.lineWidth = dot;
      ctx.setLineDash(dash.map((n) => n * dot));
      ctx.beginPath();
      ctx.moveTo(x, name === "launch" && !dash.length ? top - 27 * dot : top);
      ctx.lineTo(x, bottom);
      ctx.stroke();
      ctx.setLineDash([]);
    };
    const label = (x, kind, text, y) => {
      const wanted = ctx.measureText(text).width + 8 * dot;
      if (x < labelled[kind] || x + wanted > left + width + 6 * dot) return;
      labelled[kind] = x + wanted;
      ctx.fillStyle = colour(kind);
      ctx.fillText(text, x + (kind === "launch" ? 3 * dot : 0), y);
    };
    const shape = (points, name) => {
      ctx.fillStyle = colour(name);
      ctx.beginPath();
      points.forEach(([x, y], n) => (n ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
      ctx.fill();
    };
    const shade = (from, to, alpha) => {
      ctx.globalAlpha = alpha;
      ctx.fillStyle = colour("bad");
      ctx.fillRect(from, top, Math.max(to - from, dot), height);
      ctx.globalAlpha = 1;
    };
    const { min, max } = plot.scales.x;
    for (const mark of report.marks) {
      const from = spot(mark), to = mark.last == null ? from : place(mark.last) ?? from;
      if (!shown(mark) || from == null || to < min || from > max) continue;
      const x = plot.valToPos(from, "x", true), s = 5 * dot;
      if (mark.kind === "launch") {
        line(x, "launch", []);
        label(x, "launch", mark.title.split(":")[0], top - 17 * dot);
      } else if (mark.kind === "attempt") line(x, "launch", [2, 3]);
      else if (mark.kind === "phase") {
        line(x, "phase", [6, 4]);
        label(x, "phase", mark.title, top - 5 * dot);
      } else if (mark.kind === "alert") {
        shade(x, plot.valToPos(to, "x", true), 0.14);
        line(x, "bad", [1, 3]);
        shape([[x - s, top], [x + s, top], [x, top + 1.7 * s]], "bad");
      } else if (mark.kind === "checkpoint") shape([[x - s, bottom], [x, bottom - s], [x + s, bottom], [x, bottom + s]], "checkpoint");
      else line(x, "quiet", [4, 2]);
    }
    if (!off.has("bad")) {
      ctx.strokeStyle = colour("bad");
      ctx.lineWidth = 2 * dot;
      for (const series of chart.series) for (const ends of series.bad) {
        if (ends.some((step) => place(step) == null)) continue;
        const [from, to] = ends.map((step) => plot.valToPos(place(step), "x", true)), y = top + 14 * dot, s = 4 * dot;
        ctx.beginPath();
        ctx.moveTo(from, y); ctx.lineTo(to, y);
        for (const x of [from, to]) { ctx.moveTo(x - s, y - s); ctx.lineTo(x + s, y + s); ctx.moveTo(x + s, y - s); ctx.lineTo(x - s, y + s); }
        ctx.stroke();
      }
    }
    ctx.restore();
  };

  const near = (plot, x, step) => report.marks.filter((mark) => {
    if (!shown(mark) || mark.kind === "checkpoint") return false;
    if (mark.step <= step && step <= (mark.last ?? mark.step)) return true;
    return spot(mark) != null && Math.abs(plot.valToPos(spot(mark), "x") - plot.valToPos(x, "x")) < MARGIN;
  });

  /* An average whose weights fall by e over so many steps. */
  const smoothed = (steps, values, width) => {
    let at = values[0];
    return values.map((value, n) => (at += n ? (value - at) * (1 - Math.exp((steps[n - 1] - steps[n]) / width)) : 0));
  };

  /* By time a line has a gap where no rows came for long: the run made no steps there. */
  const broken = (rows) => {
    const gaps = rows.slice(1).map(([x], n) => x - rows[n][0]), usual = [...gaps].sort((a, b) => a - b)[gaps.length >> 1];
    const long = Math.max(5 * usual, (all[1] - all[0]) / 100);
    return rows.flatMap((row, n) => (gaps[n] > long ? [row, [row[0] + gaps[n] / 2, null]] : [row]));
  };

  const read = (plot, chart, steps) => {
    const out = document.getElementById("readout-" + chart.id), idx = plot.cursor.idx;
    if (idx == null) { out.textContent = ""; return; }
    const x = plot.data[0][idx], step = steps.get(x);
    if (step === undefined) { out.textContent = WORDS[axis](x) + " · no rows for long"; return; }
    const words = ["step " + whole.format(step)];
    if (axis !== "step") words.push(WORDS[axis](x));
    plot.series.forEach((series, n) => {
      const value = n && plot.data[n][idx];
      if (n && value != null) words.push(`${series.label} ${number.format(value)}`);
    });
    for (const series of chart.series) if (series.bad.some(([first, last]) => first <= step && step <= last)) words.push(`${series.metric} is not finite`);
    for (const mark of near(plot, x, step).slice(0, 4)) words.push(`${mark.kind}: ${mark.title}${mark.note ? " (" + mark.note.slice(0, 120) + ")" : ""}`);
    out.textContent = words.join(" · ");
  };

  const NAMES = ["one", "two", "three"];
  const build = (chart, log) => {
    const tables = [], steps = new Map(), series = [{ label: axis, value: (_, v) => (v == null ? "" : axis === "step" ? whole.format(v) : WORDS[axis](v)) }];
    const width = smoothing * report.charts.reduce((most, one) => Math.max(most, ...one.series.flatMap((each) => each.lines.map((line) => line.x[line.x.length - 1] - line.x[0]))), 0);
    const add = (on, values) => {
      const rows = on.map((step, n) => [place(step), values[n], step]).filter(([x]) => x != null);
      for (const [x, , step] of rows) steps.set(x, step);
      const drawn = axis === "time" ? broken(rows) : rows;
      tables.push([drawn.map(([x]) => x), drawn.map(([, y]) => y)]);
    };
    chart.series.forEach((one, n) => {
      for (const line of lines(one).sort((a, b) => b.lane - a.lane)) {
        const again = line.lane > 0, few = line.x.length < 3, pale = again || smoothing > 0;
        add(line.x, line.y);
        series.push({
          label: one.metric + (again ? " (done again later)" : ""),
          stroke: () => colour(pale ? "again" : NAMES[n % 3]),
          width: pale ? 1 : 1.6, dash: again ? [4, 3] : [], spanGaps: false,
          points: { show: few || n > 0, size: 5, space: 8 },
          value: (_, v) => (v == null ? "" : number.format(v)),
        });
        if (!smoothing || again) continue;
        add(line.x, smoothed(line.x, line.y, width));
        series.push({ label: one.metric + " (smoothed)", stroke: () => colour(NAMES[n % 3]), width: 1.8, points: { show: false }, value: (_, v) => (v == null ? "" : number.format(v)) });
      }
    });
    const bad = chart.series.flatMap((one) => one.bad.flat());
    if (bad.length) { // so that the cursor finds them
      const ends = [...new Set(bad)].sort((a, b) => a - b);
      add(ends, ends.map(() => null));
      series.push({ label: "not finite", stroke: () => colour("bad"), points: { show: false }, class: "unseen" });
    }
    const box = document.getElementById("plot-" + chart.id);
    const look = { stroke: () => colour("quiet"), grid: { stroke: () => colour("grid"), width: 1 }, ticks: { stroke: () => colour("grid"), width: 1 }, font: '11px system-ui, "DejaVu Sans", sans-serif' };
    const tick = (plot, v) => axis === "tokens" ? short.format(v) : axis === "step" ? whole.format(v)
      : plot.scales.x.max - plot.scales.x.min < 600 ? new Date(v * 1000).toISOString().slice(11, 19) : utc(v).slice(5);
    const options = {
      width: box.clientWidth, height: HEIGHT, series, padding: [32, 22, 0, 0],
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
      scales: { x: { time: axis === "time" }, y: { distr: log ? 3 : 1 } },
      axes: [
        { ...look, space: axis === "time" ? 90 : 60, values: (plot, ticks) => ticks.map((v) => (v == null ? "" : tick(plot, v))) },
        { ...look, size: 58, values: (_, ticks) => ticks.map((v) => (v == null ? "" : v && (Math.abs(v) >= 1e12 || Math.abs(v) < 1e-3) ? Number(v.toPrecision(4)).toExponential() : short.format(v))) },
      ],
      cursor: { sync: { key: "run", scales: ["x", null] }, drag: { x: true, y: false, dist: 6 } },
      legend: { live: true },
      hooks: {
        draw: [(plot) => draw(plot, chart)],
        setCursor: [(plot) => read(plot, chart, steps)],
        setScale: [(plot, key) => {
          if (key !== "x") return;
          box.dataset.range = `${plot.scales.x.min} ${plot.scales.x.max}`;
          if (!moving) zoom(plot.scales.x.min, plot.scales.x.max);
        }],
      },
    };
    const data = tables.length > 1 ? uPlot.join(tables, tables.map(() => [0, 2])) : tables[0];
    moving = true;
    const plot = new uPlot(options, data, box);
    plot.setScale("x", { min: range[0], max: range[1] });
    moving = false;
    plot.root.querySelectorAll("canvas").forEach((canvas) => canvas.setAttribute("aria-hidden", "true"));
    plot.over.addEventListener("dblclick", () => zoom(...all));
    charts.set(chart.id, { plot, chart, log });
    return plot;
  };

  const positive = (chart) => chart.series.every((one) => one.lines.every((line) => line.y.every((v) => v > 0)));
  const steep = (chart) => {
    const values = chart.series.flatMap((one) => one.lines.flatMap((line) => line.y));
    let low = Infinity, high = -Infinity;
    for (const v of values) { if (v < low) low = v; if (v > high) high = v; }
    return high / low > 50;
  };

  const tools = (chart, canLog) => {
    const bar = document.querySelector(`.tools[data-for="${chart.id}"]`);
    const button = bar.querySelector('[data-do="log"]');
    bar.hidden = false;
    button.hidden = !canLog;
    button.setAttribute("aria-pressed", String(charts.get(chart.id).log));
    bar.addEventListener("click", (event) => {
      const act = event.target.dataset.do;
      if (act === "in") wide(0.5);
      if (act === "out") wide(2);
      if (act === "whole") zoom(...all);
      if (act === "log") {
        const { plot, log } = charts.get(chart.id);
        plot.destroy();
        build(chart, !log);
        button.setAttribute("aria-pressed", String(!log));
      }
    });
  };

  const keys = (chart) => document.getElementById("plot-" + chart.id).addEventListener("keydown", (event) => {
    const { plot } = charts.get(chart.id), x = plot.data[0], { min, max } = plot.scales.x;
    const first = x.findIndex((v) => v >= min), last = x.findLastIndex((v) => v <= max);
    const by = Math.max(1, Math.round((last - first) / (event.shiftKey ? 10 : 100)));
    const now = plot.cursor.idx ?? first, to = { ArrowLeft: now - by, ArrowRight: now + by, Home: first, End: last }[event.key];
    if (to !== undefined) {
      const at = Math.min(last, Math.max(first, to));
      plot.setCursor({ left: plot.valToPos(x[at], "x"), top: 10 });
    } else if (event.key === "+" || event.key === "=") wide(0.5);
    else if (event.key === "-") wide(2);
    else if (event.key === "0") zoom(...all);
    else return;
    event.preventDefault();
  });

  for (const chart of report.charts) {
    if (!chart.series.some((one) => one.lines.length)) continue;
    const canLog = positive(chart);
    build(chart, canLog && steep(chart));
    tools(chart, canLog);
    keys(chart);
  }
  const options = document.getElementById("options");
  options.hidden = !charts.size;
  options.addEventListener("change", ({ target }) => {
    if (target.id === "smoothing") smoothing = Number(target.value);
    if (target.id === "axis") { axis = target.value; all = range = extent(); }
    for (const { plot, chart, log } of [...charts.values()]) {
      document.getElementById("readout-" + chart.id).textContent = "";
      plot.destroy();
      build(chart, log);
    }
  });
  const redraw = () => { for (const { plot } of charts.values()) plot.redraw(false); };
  document.querySelectorAll(".marks input").forEach((box) => box.addEventListener("change", () => {
    box.checked ? off.delete(box.dataset.kind) : off.add(box.dataset.kind);
    redraw();
  }));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  const fit = () => { for (const { plot, chart } of charts.values()) {
    const width = document.getElementById("plot-" + chart.id).clientWidth;
    if (width !== plot.width) plot.setSize({ width, height: HEIGHT });
  } };
  addEventListener("resize", fit);
  fit();
  document.documentElement.dataset.drawn = String(charts.size);
})();
