// Charts of what a service uses: the history of the chosen time, and each sample as it is taken while the last minutes show.
(() => {
	const box = document.querySelector('[data-usage]');
	if (!box || !window.uPlot) return;
	const lang = document.documentElement.lang;
	const probe = document.createElement('span');
	probe.hidden = true;
	document.body.append(probe);
	const colour = (name) => { probe.style.color = `var(--${name})`; return getComputedStyle(probe).color; };
	const number = new Intl.NumberFormat(lang, { maximumFractionDigits: 1 });
	const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
	const bytes = (n) => {
		let i = 0;
		while (n >= 1024 && i < units.length - 1) { n /= 1024; i++; }
		return number.format(n) + ' ' + units[i];
	};
	const clock = new Intl.DateTimeFormat(lang, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
	const exact = new Intl.DateTimeFormat(lang, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
	const day = new Intl.DateTimeFormat(lang, { month: 'short', day: 'numeric' });
	const spans = { '3m': 180, '1h': 3600, '24h': 86400, '7d': 604800 };
	const span = spans[box.dataset.window];
	const kinds = {
		cpu: { of: (s) => s.cpuPercent, write: (n) => number.format(n) + ' %', least: 1, tone: 'accent' },
		memory: { of: (s) => s.memUsedBytes, write: bytes, least: 1 << 20, tone: 'info' },
	};
	const charts = [...box.querySelectorAll('.chart')];
	let samples = [];

	const data = (kind) => [samples.map((s) => Date.parse(s.sampledAt) / 1000), samples.map(kind.of)];
	function range() {
		const now = Date.now() / 1000;
		return [now - span, now];
	}
	function draw(chart) {
		const kind = kinds[chart.dataset.kind];
		if (chart.plot) return chart.plot.setData(data(kind));
		const axis = { stroke: colour('muted'), grid: { stroke: colour('line'), width: 1 }, ticks: { stroke: colour('line') }, font: '11px ' + getComputedStyle(document.body).fontFamily };
		const moment = span > 86400 ? day : span < 600 ? exact : clock;
		chart.plot = new uPlot({
			width: chart.clientWidth, height: 170, legend: { show: false }, cursor: { drag: { x: false, y: false } },
			scales: { x: { range }, y: { range: (u, low, high) => [0, Math.max(high * 1.15, kind.least)] } },
			axes: [{ ...axis, space: 80, values: (u, all) => all.map((t) => moment.format(t * 1000)) }, { ...axis, size: 68, values: (u, all) => all.map(kind.write) }],
			series: [{}, { stroke: colour(kind.tone), width: 1.6, points: { show: samples.length < 3 } }],
		}, data(kind), chart);
		new ResizeObserver(() => chart.plot.setSize({ width: chart.clientWidth, height: 170 })).observe(chart);
	}
	function show() {
		for (const chart of charts) {
			const none = samples.length === 0;
			if (none && chart.plot) continue;
			chart.classList.toggle('none', none);
			if (none) chart.textContent = box.dataset.none;
			else {
				if (!chart.plot) chart.textContent = '';
				draw(chart);
			}
		}
	}
	async function load() {
		const answer = await fetch(box.dataset.usage + '/history?window=' + box.dataset.window);
		if (!answer.ok) return;
		samples = (await answer.json()).samples;
		show();
	}
	if (span > 180) {
		load().catch(() => {});
		setInterval(() => { if (!document.hidden) load().catch(() => {}); }, 30000);
		return;
	}
	const stream = new EventSource(box.dataset.usage + '/events');
	stream.addEventListener('resource_usage_snapshot', (e) => { samples = JSON.parse(e.data).samples; show(); });
	stream.addEventListener('resource_usage_tick', (e) => {
		const tick = JSON.parse(e.data);
		samples.push(tick);
		const from = Date.now() - span * 1000;
		samples = samples.filter((s) => Date.parse(s.sampledAt) >= from);
		show();
	});
	addEventListener('pagehide', () => stream.close());
})();
