// Draws the spans of one trace as a waterfall, and the attributes of one of them.
(() => {
	const { spans, chosen } = data;
	const tones = ['#1d5fa8', '#0f766e'];
	const make = (parent, tag, className, text = '') => parent.appendChild(Object.assign(document.createElement(tag), { className, textContent: text }));
	const begin = Math.min(...spans.map((s) => s.start)), whole = Math.max(...spans.map((s) => s.start + s.took)) - begin;
	const time = (us) => (us >= 1000 || us === 0 ? `${+(us / 1000).toPrecision(3)} ms` : `${Math.round(us)} µs`);
	const services = [...new Set(spans.map((s) => s.service))];
	const percent = (us) => `${us / whole * 100}%`;

	const list = document.querySelector('.spans');
	const head = make(list, 'div', 'span head');
	make(head, 'span', 'label', 'Service and span');
	const ruler = make(head, 'span', 'lane');
	const step = [1, 2, 3, 4, 5, 6].flatMap((i) => [1, 2, 5].map((n) => n * 10 ** i)).find((n) => whole / n < 7);
	list.style.setProperty('--step', percent(step));
	for (let at = 0; at < whole * 0.9; at += step) make(ruler, 'span', 'tick', time(at)).style.left = percent(at);

	// Children follow their parent, in the order of their beginnings.
	const drawChildren = (parent, depth) => {
		for (const s of spans.filter((s) => s.parent === parent).sort((a, b) => a.start - b.start)) {
			const row = make(list, 'div', 'span row' + (s.id === chosen ? ' on' : ''));
			row.id = s.id;
			row.dataset.parent = s.parent;
			const label = make(row, 'span', 'label');
			label.style.paddingLeft = `${8 + depth * 18}px`;
			make(label, 'b', '', s.service).style.color = tones[services.indexOf(s.service)];
			label.append(' ' + s.name);
			const lane = make(row, 'span', 'lane');
			const bar = make(lane, 'i', 'bar' + (s.failed ? ' failed' : ''));
			Object.assign(bar.style, { left: percent(s.start - begin), width: percent(s.took), background: tones[services.indexOf(s.service)] });
			const after = (s.start - begin + s.took) / whole < 0.88;
			const text = make(lane, 'span', 'took', (s.failed ? '✕ ' : '') + time(s.took));
			Object.assign(text.style, after ? { left: `calc(${percent(s.start - begin + s.took)} + 6px)` } : { right: `calc(100% - ${percent(s.start - begin + s.took)} + 6px)`, color: '#fff' });
			drawChildren(s.id, depth + 1);
		}
	};
	drawChildren('', 0);

	const one = spans.find((s) => s.id === chosen);
	document.querySelector('.chosen h2').textContent = `${one.service}: ${one.name}`;
	const facts = document.querySelector('.chosen dl');
	const write = (of, kind) => Object.entries(of).sort().forEach(([key, value]) => {
		make(facts, 'dt', '', key);
		make(make(facts, 'dd', ''), 'code', '', value.replace(/^\w+_value:\s*/, ''));
		facts.lastChild.append(kind);
	});
	write({ duration: time(one.took), status: one.failed ? 'error' : 'unset' }, '');
	write(one.attributes, '');
	write(one.resource, ' of the resource');
	document.querySelector('h1').textContent = spans.find((s) => !s.parent).name;
	document.querySelector('header p').textContent = `trace ${one.trace} · ${spans.length} spans · ${services.length} services · ${time(whole)} · drawn by the tests`;
	document.documentElement.classList.add('drawn');
})();
