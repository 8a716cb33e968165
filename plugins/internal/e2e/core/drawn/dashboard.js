// Draws the panels of a dashboard of Grafana from its file and from what Prometheus answered to its queries.
(() => {
	const { board, results, from, to } = data;
	const cell = { columns: 24, height: 24, gap: 8 };
	const tones = ['#1d5fa8', '#b45309', '#15803d', '#b42318', '#6d28d9', '#0e7490', '#a21caf', '#64748b', '#854d0e', '#be185d'];
	const root = document.querySelector('.board');
	const make = (parent, tag, className, text = '') => parent.appendChild(Object.assign(document.createElement(tag), { className, textContent: text }));

	// scaled writes a number with the largest of some units that leaves at least 1 before the point.
	const scaled = (units) => (v) => {
		const [size, unit] = units.find(([n]) => Math.abs(v) >= n) ?? units[units.length - 1];
		return `${+(v / size).toPrecision(3)}${unit}`;
	};
	const format = {
		short: scaled([[1e6, ' Mil'], [1e3, ' K'], [1, '']]),
		reqps: (v) => `${+v.toPrecision(3)} req/s`,
		s: (v) => (v === 0 ? '0 s' : scaled([[1, ' s'], [1e-3, ' ms'], [1e-6, ' µs']])(v)),
		bytes: (v) => (v === 0 ? '0 B' : scaled([[2 ** 30, ' GiB'], [2 ** 20, ' MiB'], [2 ** 10, ' KiB'], [1, ' B']])(v)),
		percentunit: (v) => `${+(v * 100).toPrecision(3)} %`,
	};
	// increments are the steps between the lines of an axis: whole numbers for what is counted, powers of two for bytes.
	const steps = Array.from({ length: 36 }, (_, i) => i);
	const increments = (unit, high) => {
		if (unit === 'bytes') return steps.map((i) => 2 ** i);
		if (unit === 'short' && high >= 1) return steps.slice(0, 10).flatMap((i) => [1, 2, 5].map((n) => n * 10 ** i));
		return undefined;
	};
	const clock = (seconds) => (t) => new Date(t * 1000).toISOString().slice(11, seconds ? 19 : 16);

	// readSeries returns the series of a panel, each with the name that the legend gives it.
	const readSeries = (panel) => panel.targets.flatMap((target) => results[target.expr].map((s) => ({
		name: target.legendFormat.replace(/{{\s*(\w+)\s*}}/g, (_, label) => s.metric[label] ?? ''), values: s.values ?? [s.value],
	})));

	function plot(box, panel, series) {
		const times = Array.from({ length: to - from + 1 }, (_, i) => from + i);
		const columns = series.map((s) => { const at = new Map(s.values.map(([t, v]) => [Math.round(t), v === 'NaN' ? null : +v])); return times.map((t) => at.get(t) ?? null); });
		const { unit, custom } = panel.fieldConfig.defaults;
		const axis = { stroke: '#5b6878', font: '11px system-ui, sans-serif', grid: { stroke: '#eceff3', width: 1 }, ticks: { stroke: '#e1e6ec', size: 4 } };
		const highest = Math.max(...columns.flat());
		const incrs = increments(unit, highest);
		const top = (high) => (high > 0 ? high * 1.1 : 1);
		new uPlot({
			width: box.clientWidth, height: box.clientHeight, legend: { show: false }, cursor: { show: false }, padding: [8, 12, 0, 0],
			scales: { x: { range: [from, to] }, y: { range: (_, low, high) => [0, top(high)] } },
			axes: [
				{ ...axis, size: 26, space: 44, incrs: [60, 120, 300, 600], values: (_, all) => all.map(clock(false)) },
				{ ...axis, space: 30, ...(incrs && { incrs }), size: (_, values) => (values ? 14 + Math.max(...values.map((v) => v.length)) * 6.4 : 40), values: (_, all) => all.map(format[unit]) },
			],
			series: [{}, ...series.map((_, i) => ({ stroke: tones[i % tones.length], fill: tones[i % tones.length] + Math.round(custom.fillOpacity * 2.55).toString(16).padStart(2, '0'), width: custom.lineWidth + 0.5, points: { show: false } }))],
		}, [times, ...columns], box);
	}

	function drawPanel(box, panel) {
		make(box, 'h3', '', panel.title);
		const series = readSeries(panel);
		if (panel.type === 'stat') {
			const stats = make(box, 'div', 'stats');
			for (const s of series) {
				const one = make(stats, 'div', '');
				make(one, 'span', 'name', s.name);
				make(one, 'span', 'value', format[panel.fieldConfig.defaults.unit](+s.values.at(-1)[1]));
			}
			return;
		}
		const area = make(box, 'div', 'plot');
		const legend = make(box, 'ul', 'legend');
		series.forEach((s, i) => {
			const one = make(legend, 'li', '');
			make(one, 'i', '').style.background = tones[i % tones.length];
			make(one, 'span', 'name', s.name);
		});
		if (series.length) plot(area, panel, series);
	}

	const width = (root.clientWidth + cell.gap) / cell.columns, height = cell.height + cell.gap;
	let bottom = 0;
	for (const panel of board.panels) {
		const { x, y, w, h } = panel.gridPos;
		const box = make(root, panel.type === 'row' ? 'div' : 'section', panel.type === 'row' ? 'row' : 'panel');
		Object.assign(box.style, { left: `${x * width}px`, top: `${y * height}px`, width: `${w * width - cell.gap}px`, height: `${h * height - cell.gap}px` });
		bottom = Math.max(bottom, (y + h) * height);
		if (panel.type === 'row') make(box, 'h2', '', panel.title);
		else drawPanel(box, panel);
	}
	root.style.height = `${bottom}px`;
	document.querySelector('h1').textContent = board.title;
	document.querySelector('header p').textContent = `${new Date(from * 1000).toISOString().slice(0, 10)}, ${clock(true)(from)} to ${clock(true)(to)} UTC · drawn by the tests from grafana-dashboard.json`;
	document.documentElement.classList.add('drawn');
})();
