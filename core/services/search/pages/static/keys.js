// Upstream keys: asking about them before they are added, with each result as it comes; and counting down.
(() => {
	document.querySelectorAll('form[data-validate]').forEach((form) => {
		const results = form.querySelector('[data-results]');
		const body = results.querySelector('tbody');
		const progress = results.querySelector('[data-progress]');
		form.querySelector('[data-ask]').addEventListener('click', async (e) => {
			const keys = form.elements.keys.value.split('\n').map((l) => l.trim()).filter(Boolean);
			if (!keys.length) return form.reportValidity();
			e.target.disabled = true;
			body.replaceChildren();
			results.hidden = false;
			const words = JSON.parse(form.dataset.words);
			let done = 0;
			const tell = () => { progress.textContent = `${form.dataset.asking} ${done} / ${keys.length}`; };
			tell();
			try {
				const answer = await fetch(form.dataset.validate, {
					method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream' },
					body: JSON.stringify({ api_keys: keys, group: form.elements.group.value }),
				});
				if (!answer.ok) throw new Error((await answer.json()).message);
				await read(answer, (name, data) => {
					if (name === 'result') { done++; add(body, data, words); tell(); }
					if (name === 'error') throw new Error(data.message);
				});
				progress.textContent = `${done} / ${keys.length}`;
			} catch (err) {
				progress.textContent = err.message || form.dataset.failed;
			} finally {
				e.target.disabled = false;
			}
		});
	});

	// read takes server-sent events out of an answer.
	async function read(answer, event) {
		const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
		let rest = '';
		for (;;) {
			const { value, done } = await reader.read();
			if (done) return;
			const parts = (rest + value).split('\n\n');
			rest = parts.pop();
			for (const part of parts) {
				const name = /^event: (.*)$/m.exec(part)?.[1];
				const data = /^data: (.*)$/m.exec(part)?.[1];
				if (name && data) event(name, JSON.parse(data));
			}
		}
	}

	const tones = { ok: 'ok', ok_exhausted: 'warn', unauthorized: 'bad', invalid: 'bad', error: 'bad' };
	function add(body, r, words) {
		const row = document.createElement('tr');
		row.dataset.line = r.line;
		const cells = [r.line, r.key, null, r.quota_remaining === null ? '–' : `${r.quota_remaining} / ${r.quota_limit}`, r.detail];
		cells.forEach((text, i) => {
			const cell = document.createElement('td');
			if (i === 2) {
				const pill = document.createElement('span');
				pill.className = 'pill ' + (tones[r.status] || '');
				pill.textContent = words[r.status] || r.status;
				cell.append(pill);
			} else {
				cell.textContent = text;
			}
			cell.className = ['', 'm', '', 'r', 'hide'][i];
			row.append(cell);
		});
		// Answers come as they are ready; the rows stand in the order of the keys.
		body.insertBefore(row, [...body.rows].find((other) => Number(other.dataset.line) > r.line) || null);
	}

	const waits = document.querySelectorAll('[data-until]');
	if (waits.length) setInterval(() => {
		waits.forEach((w) => {
			const left = Math.ceil((Date.parse(w.dataset.until) - Date.now()) / 1000);
			if (left > 0 && left < 3600) w.querySelector('time').textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
			if (left === 0) location.reload();
		});
	}, 1000);
})();
