// Charts: each figure has a table of its values. They are drawn above it, with the values below the pointer and in the
// reader's time zone; a stretch that is marked with the pointer fills the drawing.
(() => {
	if (!window.uPlot) return;
	const lang = document.documentElement.lang;
	const probe = document.body.appendChild(Object.assign(document.createElement('span'), { hidden: true }));
	const colour = (name) => { probe.style.color = `var(--${name})`; return getComputedStyle(probe).color; };
	const number = new Intl.NumberFormat(lang, { maximumFractionDigits: 1 });
	const whole = [1, 2, 5].flatMap((n) => Array.from({ length: 12 }, (_, i) => n * 10 ** i)).sort((a, b) => a - b);
	const bytes = (n) => {
		const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
		let i = 0;
		while (n >= 1024 && i < units.length - 1) { n /= 1024; i++; }
		return number.format(n) + ' ' + units[i];
	};
	const write = {
		count: (n) => number.format(n), percent: (n) => number.format(n) + ' %', bytes,
		ms: (n) => (n >= 1000 ? number.format(n / 1000) + ' s' : number.format(n) + ' ms'),
	};
	// The top of an empty axis.
	const least = { count: 1, percent: 1, ms: 1, bytes: 1 << 20 };
	const format = (options) => { const f = new Intl.DateTimeFormat(lang, options); return (t) => f.format(t * 1000); };
	const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
	const minute = format(clock), second = format({ ...clock, second: '2-digit' }), day = format({ month: 'short', day: 'numeric' });
	const exact = format({ month: 'short', day: 'numeric', ...clock, second: '2-digit' });
	const utc = format({ month: 'short', day: 'numeric', ...clock, timeZone: 'UTC' });
	const isMidnight = (t) => { const d = new Date(t * 1000); return !d.getHours() && !d.getMinutes() && !d.getSeconds(); };

	function readTable(figure) {
		const rows = [...figure.querySelectorAll('tbody tr')];
		const columns = [...figure.querySelectorAll('th[data-tone]')].map((_, i) => rows.map((r) => { const v = r.cells[i + 1].dataset.v; return v === '' ? null : +v; }));
		return [rows.map((r) => Date.parse(r.querySelector('time').dateTime) / 1000), columns];
	}

	// tooltip shows the values at the pointer.
	function tooltip(chart) {
		const box = Object.assign(document.createElement('div'), { className: 'tip', hidden: true });
		const line = (text, tone) => {
			const p = box.appendChild(document.createElement('p'));
			if (tone) p.appendChild(document.createElement('i')).style.background = tone;
			p.append(text);
			return p;
		};
		return { hooks: {
			init: (u) => { u.over.append(box); u.over.addEventListener('mouseleave', () => { box.hidden = true; }); },
			setCursor: (u) => {
				const { left, idx } = u.cursor;
				box.hidden = idx == null || left < 0 || chart.columns.every((c) => c[idx] == null);
				if (box.hidden) return;
				const t = chart.times[idx];
				const until = t + chart.interval;
				box.replaceChildren();
				line(chart.interval ? `${day(t)}, ${minute(t)} – ${(until - t >= 86400 ? day : minute)(until)}` : exact(t)).className = 'at';
				chart.series.forEach((s, i) => { if (chart.columns[i][idx] != null) line(`${s.label} ${chart.write(chart.columns[i][idx])}`, s.tone); });
				line(utc(t) + ' UTC').className = 'utc';
				const right = left > u.over.clientWidth / 2;
				box.style.left = right ? '' : left + 12 + 'px';
				box.style.right = right ? u.over.clientWidth - left + 12 + 'px' : '';
			},
		} };
	}

	function plot(figure, chart) {
		const box = figure.querySelector('.chart');
		const height = 200;
		const font = '11px ' + getComputedStyle(document.body).fontFamily;
		const axis = { stroke: colour('muted'), grid: { stroke: colour('line'), width: 1 }, ticks: { stroke: colour('line') }, font };
		const filled = Math.max(...chart.columns.map((c) => c.filter((v) => v != null).length));
		const bars = chart.stacked || filled * 4 < chart.times.length;
		const moment = (t) => (isMidnight(t) ? day : chart.span && chart.span < 600 ? second : minute)(t);
		const reset = Object.assign(document.createElement('button'), { type: 'button', className: 'btn small reset', textContent: figure.dataset.reset, hidden: true });
		const ends = () => {
			if (chart.span) { const now = Date.now() / 1000; return [now - chart.span, now]; }
			return [chart.times[0], chart.times[chart.times.length - 1] + chart.interval];
		};
		let zoomed = false;
		const u = new uPlot({
			width: box.clientWidth, height, legend: { show: chart.series.length > 1, live: false }, cursor: { y: false, drag: { x: true, y: false, dist: 6 }, points: { show: !bars } },
			scales: { x: { range: (_, low, high) => (zoomed ? [low, high] : ends()) }, y: { range: (_, low, high) => [0, Math.max(high * 1.1, least[chart.format])] } },
			axes: [{ ...axis, space: 70, values: (_, all) => all.map(moment) }, { ...axis, size: 64, ...(chart.format === 'count' && { incrs: whole }), values: (_, all) => all.map(chart.write) }],
			series: [{}, ...chart.order.map((i) => ({
				label: chart.series[i].label, stroke: chart.series[i].tone, width: bars ? 0 : 1.6, spanGaps: false,
				...(bars ? { fill: chart.series[i].tone, paths: uPlot.paths.bars({ size: [0.85, 40], align: chart.interval ? 1 : 0 }), points: { show: false } } : { points: { size: 4, show: filled < 60, fill: chart.series[i].tone } }),
			}))],
			hooks: { setSelect: [(s) => { if (s.select.width > 0) { zoomed = true; reset.hidden = false; } }] },
			plugins: [tooltip(chart)],
		}, chart.data(), box);
		const showAll = () => { zoomed = false; reset.hidden = true; u.setData(chart.data()); };
		reset.addEventListener('click', showAll);
		u.over.addEventListener('dblclick', showAll);
		figure.querySelector('figcaption').append(reset);
		new ResizeObserver(() => u.setSize({ width: box.clientWidth, height })).observe(box);
		return u;
	}

	// A figure draws the values of its table, and, through its method draw, those that a script has of later.
	function prepare(figure) {
		const series = [...figure.querySelectorAll('th[data-tone]')].map((th) => ({ label: th.textContent, tone: colour(th.dataset.tone) }));
		const chart = {
			series, format: figure.dataset.chart, write: write[figure.dataset.chart], interval: +figure.dataset.interval, span: +figure.dataset.span,
			stacked: 'stacked' in figure.dataset,
			// What is drawn first lies behind what follows.
			order: series.map((_, i) => series.length - 1 - i),
			data() {
				const height = (i) => (this.stacked ? this.times.map((_, n) => this.columns.slice(0, i + 1).reduce((sum, c) => sum + (c[n] || 0), 0)) : this.columns[i]);
				return [this.times, ...this.order.map(height)];
			},
		};
		const box = figure.querySelector('.chart');
		let drawn;
		figure.draw = (times, columns) => {
			[chart.times, chart.columns] = [times, columns];
			box.classList.toggle('none', !times.length && !drawn);
			if (drawn) drawn.setData(chart.data());
			else if (times.length) { box.textContent = ''; drawn = plot(figure, chart); } else box.textContent = figure.dataset.none;
		};
		figure.draw(...readTable(figure));
	}
	document.querySelectorAll('figure[data-chart]').forEach(prepare);
})();
