// What a service uses, kept current: each sample as it is taken while the last minutes show, and the history again every half
// minute otherwise.
(() => {
	const box = document.querySelector('[data-usage]');
	if (!box) return;
	const values = [(s) => s.cpuPercent, (s) => s.memUsedBytes];
	const figures = [...box.querySelectorAll('figure')];
	let samples = [];
	const step = +figures[0].dataset.interval || 0.001;
	const times = () => samples.map((s) => Math.floor(Date.parse(s.sampledAt) / 1000 / step) * step);
	const show = () => figures.forEach((f, i) => f.draw && f.draw(times(), [samples.map(values[i])]));
	if (box.dataset.window !== '3m') {
		setInterval(async () => {
			if (document.hidden) return;
			const answer = await fetch(box.dataset.usage + '/history?window=' + box.dataset.window).catch(() => null);
			if (!answer || !answer.ok) return;
			samples = (await answer.json()).samples;
			show();
		}, 30000);
		return;
	}
	let stream;
	function connect() {
		stream = new EventSource(box.dataset.usage + '/events');
		stream.addEventListener('resource_usage_snapshot', (e) => { samples = JSON.parse(e.data).samples; show(); });
		stream.addEventListener('resource_usage_tick', (e) => {
			const from = Date.now() - 180000;
			samples = [...samples, JSON.parse(e.data)].filter((s) => Date.parse(s.sampledAt) >= from);
			show();
		});
	}
	connect();
	// A browser may keep a page that is left, and show it again.
	addEventListener('pagehide', () => stream.close());
	addEventListener('pageshow', (e) => { if (e.persisted) connect(); });
})();
