// Charts: each element names the address of its points and how to draw them.
(() => {
	const style = getComputedStyle(document.body);
	const probe = document.createElement('span');
	document.body.append(probe);
	const colour = (name) => { probe.style.color = `var(--${name})`; return getComputedStyle(probe).color; };
	const kinds = {
		requests: { series: [['successes', 'accent'], ['errors', 'bad'], ['refused', 'warn']], write: (n) => number.format(n) },
		latency: { series: [['p50_ms', 'accent'], ['p95_ms', 'info'], ['p99_ms', 'warn']], write: (n) => duration(n) },
	};
	const number = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 1 });
	const whole = [1, 2, 5].flatMap((n) => Array.from({ length: 12 }, (_, i) => n * 10 ** i)).sort((a, b) => a - b);
	const clock = new Intl.DateTimeFormat(document.documentElement.lang, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: 'UTC' });
	const day = new Intl.DateTimeFormat(document.documentElement.lang, { month: 'short', day: 'numeric', timeZone: 'UTC' });
	const moment = (t) => (t % 86400 ? clock : day).format(t * 1000);
	const duration = (n) => (n >= 1000 ? number.format(n / 1000) + ' s' : number.format(n) + ' ms');
	const answers = new Map();
	const load = (url) => {
		if (!answers.has(url)) answers.set(url, fetch(url).then((r) => (r.ok ? r.json() : Promise.reject(new Error(r.status)))));
		return answers.get(url);
	};

	async function draw(box) {
		const kind = kinds[box.dataset.kind];
		const labels = box.dataset.labels.split('|');
		const chart = await load(box.dataset.chart);
		const times = chart.points.map((p) => Date.parse(p.time) / 1000);
		const data = [times, ...kind.series.map(([name]) => chart.points.map((p) => (box.dataset.kind === 'latency' && !p.requests ? null : p[name])))];
		const axis = { stroke: colour('muted'), grid: { stroke: colour('line'), width: 1 }, ticks: { stroke: colour('line') }, font: '11px ' + style.fontFamily };
		const options = {
			width: box.clientWidth, height: 200, tzDate: (t) => uPlot.tzDate(new Date(t * 1000), 'Etc/UTC'), legend: { live: false }, cursor: { drag: { x: false, y: false } },
			scales: { y: { range: (u, low, high) => [0, Math.max(high * 1.1, 1)] } },
			axes: [{ ...axis, space: 64, values: (u, all) => all.map(moment) }, { ...axis, size: 56, ...(box.dataset.kind === 'requests' && { incrs: whole }), values: (u, all) => all.map((n) => kind.write(n)) }],
			series: [{ value: (u, t) => (t == null ? '–' : new Date(t * 1000).toLocaleString(document.documentElement.lang)) },
				...kind.series.map(([, tone], i) => ({ label: labels[i], stroke: colour(tone), width: 1.6, spanGaps: false, points: { size: 4, show: box.dataset.kind === 'latency', fill: colour(tone) }, value: (u, n) => (n == null ? '–' : kind.write(n)) }))],
		};
		const plot = new uPlot(options, data, box);
		new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height: 200 })).observe(box);
	}
	document.querySelectorAll('[data-chart]').forEach((box) => draw(box).catch(() => { box.hidden = true; }));
	probe.hidden = true;
})();
