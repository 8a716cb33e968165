// What the pages do beyond showing themselves. Everything is found by attributes, so that no page carries script of its own.
(() => {
	const root = document.documentElement;
	// The class tells that the parts below work.
	root.classList.add('js');
	const box = document.getElementById('toasts');

	function toast(text, kind) {
		if (!box) return;
		const t = document.createElement('div');
		t.className = 'toast ' + (kind || 'info');
		t.textContent = text;
		box.append(t);
		setTimeout(() => t.remove(), 6000);
	}
	window.patchbay = { toast };

	document.addEventListener('click', async (e) => {
		const dismiss = e.target.closest('[data-dismiss]');
		if (dismiss) return dismiss.parentElement.remove();
		const copy = e.target.closest('[data-copy]');
		if (copy) {
			const text = copy.parentElement.querySelector('pre,code,input');
			try {
				await navigator.clipboard.writeText(text.value ?? text.textContent);
				toast(box.dataset.copied, 'ok');
			} catch {
				getSelection().selectAllChildren(text);
			}
		}
	});

	// Dialogs: a button opens one, and one that the page comes with covers it.
	document.addEventListener('click', (e) => {
		const dialog = document.getElementById(e.target.closest('[data-open]')?.dataset.open);
		if (!dialog) return;
		e.preventDefault();
		dialog.showModal();
	});
	document.querySelectorAll('[data-dialog][open]').forEach((d) => { d.close(); d.showModal(); });

	// Questions: what opens below a button without script is shown in a dialog.
	const ask = document.getElementById('ask');
	document.addEventListener('click', (e) => {
		if (e.target.closest('[data-close]')) return e.target.closest('dialog')?.close();
		const summary = e.target.closest('[data-ask] > summary');
		if (!summary || !ask) return;
		e.preventDefault();
		ask.replaceChildren(...summary.nextElementSibling.cloneNode(true).children);
		ask.querySelector('h2').id = 'ask-title';
		ask.showModal();
		ask.querySelector('[name=confirm_name]')?.focus();
	});

	// Forms that change something are sent once.
	document.addEventListener('submit', (e) => {
		const form = e.target;
		if (!form.dataset.checked && 'passkeyCheck' in form.dataset && can()) {
			e.preventDefault();
			return checkPasskey(form, e.submitter);
		}
		delete form.dataset.checked;
		if (e.target.method === 'post' && !e.target.dataset.passkey) {
			const button = e.submitter;
			if (button) setTimeout(() => { button.disabled = true; });
		}
	});
	// Drafts: what was typed into a form whose session had ended comes back after the sign-in; secrets are not kept.
	const page = location.href.split('#')[0];
	const typed = (form) => [...form.elements].filter((el) => el.name && !/secret|token|key|pass|pat|url/i.test(el.name) && !/password|hidden|file|submit/.test(el.type));
	document.addEventListener('submit', ({ target: form, defaultPrevented: stays }) => {
		if (form.method !== 'post' || stays || form.elements.key) return;
		sessionStorage.draft = JSON.stringify({ page, action: form.action, values: typed(form).map((el) => [el.value, el.checked]) });
	});
	const draft = JSON.parse(sessionStorage.draft ?? '{}');
	if (document.getElementById('key')) sessionStorage.draft = JSON.stringify({ ...draft, refused: true });
	else sessionStorage.removeItem('draft');
	const again = draft.refused && draft.page === page && [...document.forms].find((f) => f.action === draft.action);
	if (again) {
		typed(again).forEach((el, n) => { [el.value, el.checked] = draft.values[n] ?? [el.value, el.checked]; });
		again.closest('dialog:not([open])')?.showModal();
		toast(box.dataset.restored);
	}

	window.addEventListener('pageshow', (e) => {
		if (e.persisted) document.querySelectorAll('button:disabled').forEach((b) => { b.disabled = false; });
	});
	document.addEventListener('change', (e) => {
		if (e.target.closest('[data-autosubmit]') && e.target.matches('select')) e.target.form.requestSubmit();
	});

	// Lists: the result of a filter takes the list's place as one types, and the address has the filter.
	let typing = 0;
	function applyFilters(form) {
		const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
		const url = form.getAttribute('action') + (query.size ? '?' + query : '');
		history.replaceState(null, '', url);
		document.querySelectorAll('.prefs [name=back]').forEach((back) => { back.value = url; });
		form.querySelector('[data-clear]').classList.toggle('unset', ![...form.elements].some((f) => f.name && f.type !== 'hidden' && f.value));
		htmx.ajax('GET', url, { source: form, target: '#list', select: '#list', swap: 'outerHTML' });
	}
	document.addEventListener('input', (e) => {
		const form = e.target.closest('[data-filters]');
		if (!form) return;
		clearTimeout(typing);
		typing = setTimeout(applyFilters, e.target.matches('select') ? 0 : 250, form);
	});
	document.addEventListener('submit', (e) => {
		if (!e.target.matches('[data-filters]')) return;
		e.preventDefault();
		clearTimeout(typing);
		applyFilters(e.target);
	});
	const ticks = (part = document) => [...part.querySelectorAll('td.pick input')];
	function countTicks() {
		const picked = ticks().filter((t) => t.checked).length;
		document.querySelectorAll('[data-picked]').forEach((n) => { n.textContent = picked; });
	}
	document.addEventListener('change', (e) => {
		if (e.target.matches('[data-pick-all]')) ticks(e.target.closest('table')).forEach((t) => { t.checked = e.target.checked; });
		if (e.target.closest('.pick')) countTicks();
	});
	document.addEventListener('htmx:after:swap', countTicks);
	// step focuses the row that is a number of rows away from the one with the focus.
	function step(n) {
		const rows = [...document.querySelectorAll('[data-row]')];
		const at = rows.indexOf(document.activeElement.closest('[data-row]'));
		const row = rows[at < 0 ? (n > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + n, 0), rows.length - 1)];
		if (!row) return;
		const link = row.querySelector('td.title a');
		if (!link) row.tabIndex = -1;
		(link || row).focus();
	}

	// Keys: / the filter, g and a letter a page, j and k the rows, x a tick, ? the list.
	let leader = 0;
	document.addEventListener('keydown', (e) => {
		if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector('dialog[open]')) return;
		if (e.key === 'Escape') return document.activeElement.closest('[data-row],[data-filters]') && document.activeElement.blur();
		if (e.target.closest('input:not([type=checkbox]),textarea,select,[contenteditable]')) return;
		if (Date.now() - leader < 1500 && /^[a-z]$/.test(e.key)) {
			document.querySelector(`.side a[data-key="${e.key}"]`)?.click();
		} else if (e.key === '/') {
			const filter = document.querySelector('[data-filter]');
			if (filter) { filter.focus(); e.preventDefault(); }
		} else if (e.key === '?') {
			document.getElementById('shortcuts')?.showModal();
		} else if (e.key === 'j' || e.key === 'k') {
			step(e.key === 'j' ? 1 : -1);
		} else if (e.key === 'x') {
			document.activeElement.closest('[data-row]')?.querySelector('.pick input')?.click();
		} else if (e.key === 'g') {
			leader = Date.now();
			return;
		}
		leader = 0;
	});

	// Navigation: which groups are open is remembered.
	document.addEventListener('click', (e) => {
		const nav = e.target.closest('.group > summary')?.closest('nav');
		if (!nav) return;
		setTimeout(() => {
			const folds = [...nav.querySelectorAll('[data-fold]')].map((g) => g.dataset.fold + '-' + (g.open ? 1 : 0)).join('.');
			document.cookie = 'patchbay_nav=' + folds + ';path=/;max-age=31536000;samesite=lax';
		});
	});

	// Ctrl-K: a dialog that finds pages and things.
	const finder = document.getElementById('finder');
	const finding = finder?.querySelector('input');
	const findPath = document.querySelector('[data-find]')?.dataset.find;
	let asked = 0;
	async function find() {
		const turn = ++asked;
		try {
			const resp = await fetch(findPath + '?part=options&q=' + encodeURIComponent(finding.value), { headers: { Accept: 'text/html' } });
			const html = await resp.text();
			if (turn !== asked) return;
			if (!resp.ok) throw new Error(resp.statusText);
			finder.querySelector('[data-found]').innerHTML = html;
			choose(0);
		} catch {
			if (turn === asked) toast(box.dataset.failed, 'bad');
		}
	}
	function choose(n) {
		const options = [...finder.querySelectorAll('[role=option]')];
		const at = options.length ? (n + options.length) % options.length : -1;
		options.forEach((o, i) => o.setAttribute('aria-selected', i === at));
		if (at < 0) return finding.removeAttribute('aria-activedescendant');
		finding.setAttribute('aria-activedescendant', options[at].id);
		options[at].scrollIntoView({ block: 'nearest' });
	}
	function openFinder(e) {
		if (!finder || !findPath || document.querySelector('dialog[open]')) return;
		e.preventDefault();
		finder.showModal();
		finding.select();
		find();
	}
	document.addEventListener('click', (e) => { if (e.target.closest('[data-find]') && !e.ctrlKey && !e.metaKey) openFinder(e); });
	document.addEventListener('keydown', (e) => { if (e.key.toLowerCase() === 'k' && (e.ctrlKey || e.metaKey) && !e.altKey && !e.shiftKey) openFinder(e); });
	finding?.addEventListener('input', () => { clearTimeout(typing); typing = setTimeout(find, 120); });
	finding?.addEventListener('keydown', (e) => {
		const options = [...finder.querySelectorAll('[role=option]')];
		const at = options.findIndex((o) => o.getAttribute('aria-selected') === 'true');
		if (e.key === 'Enter') options[at]?.click();
		else if (e.key === 'ArrowDown') choose(at + 1);
		else if (e.key === 'ArrowUp') choose(at - 1);
		else return;
		e.preventDefault();
	});

	// Live parts: a stream that is cut shows it, and one that is back says so.
	function mark(e, cut) {
		const part = e.target.closest?.('[data-live]');
		if (!part) return;
		part.classList.toggle('cut', cut);
		document.querySelectorAll('[data-live-sign]').forEach((s) => s.classList.toggle('cut', cut));
	}
	document.addEventListener('htmx:sse:error', (e) => mark(e, true));
	document.addEventListener('htmx:sse:before:connection', (e) => { if (e.detail?.connection?.attempt > 0) mark(e, true); });
	document.addEventListener('htmx:sse:after:connection', (e) => mark(e, false));
	// A stream that did not begin is tried again; one that has begun looks after itself.
	for (const failure of ['htmx:error', 'htmx:response:error']) {
		document.addEventListener(failure, (e) => {
			const part = e.target.closest?.('[data-live]');
			if (!part || part._htmx?.sse) return;
			mark(e, true);
			setTimeout(connect, 3000, part);
		});
	}
	function connect(part) {
		if (part.isConnected && !part._htmx?.sse) htmx.ajax('GET', part.getAttribute('hx-sse:connect'), { source: part });
	}
	// A page that is left gives up the stream that it is opening: browsers keep such pages, with their connections, of which they have six.
	window.addEventListener('pagehide', () => partsAlive().forEach((part) => {
		part._htmx?.sse?.abortController?.abort();
		htmx.trigger(part, 'htmx:abort');
	}));
	window.addEventListener('pageshow', (e) => { if (e.persisted) partsAlive().forEach(connect); });
	// A stream that is silent for longer than it may be is taken up again; meanwhile the page says how old it is.
	const silentFor = 40000;
	const heard = new WeakMap();
	const partsAlive = () => [...document.querySelectorAll('[data-live]')];
	for (const sign of ['beat', 'htmx:sse:after:message', 'htmx:sse:after:connection']) {
		document.addEventListener(sign, (e) => {
			const part = e.target.closest?.('[data-live]');
			if (!part) return;
			heard.set(part, Date.now());
			mark(e, false);
		});
	}
	function reconnect(part) {
		if (part._htmx?.sse) part._htmx.sse.reader?.cancel();
		else connect(part);
	}
	setInterval(() => {
		const now = Date.now();
		const ages = partsAlive().map((part) => {
			if (!heard.has(part)) heard.set(part, now);
			const age = now - heard.get(part);
			if (age > silentFor && part._htmx?.sse) {
				mark({ target: part }, true);
				reconnect(part);
			}
			return age;
		});
		document.querySelectorAll('[data-age]').forEach((n) => { n.textContent = Math.round(Math.max(0, ...ages) / 1000); });
	}, 5000);
	document.addEventListener('click', (e) => { if (e.target.closest('[data-retry]')) partsAlive().forEach(reconnect); });
	// Acting while the core is away says so, and leaves the page as it is.
	document.addEventListener('submit', async (e) => {
		const form = e.target;
		if (form.dataset.reached) return delete form.dataset.reached;
		if (form.method !== 'post' || !document.querySelector('.cut[data-live-sign]')) return;
		e.preventDefault();
		e.stopImmediatePropagation();
		try {
			await fetch('/manifest.webmanifest', { cache: 'no-store' });
		} catch {
			return toast(box.dataset.down, 'bad');
		}
		form.dataset.reached = 'yes';
		form.requestSubmit(e.submitter);
	}, true);
	document.addEventListener('htmx:error', (e) => { if (!e.target.closest?.('[data-live]')) toast(box.dataset.down, 'bad'); });
	document.addEventListener('htmx:sse:close', (e) => {
		if (e.detail?.reason === 'message') document.querySelectorAll('[data-live-sign]').forEach((s) => { s.hidden = true; });
	});
	document.addEventListener('htmx:sse:after:message', (e) => {
		const log = e.target.querySelector?.('[data-tail]');
		if (log) log.scrollTop = log.scrollHeight;
	});
	// A log that grows keeps its newest lines, and stays where it is while one reads further up.
	let atEnd = true;
	document.addEventListener('clear', (e) => e.target.replaceChildren());
	document.addEventListener('htmx:sse:before:message', ({ target: log }) => { atEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 40; });
	document.addEventListener('htmx:sse:after:message', ({ target: log }) => {
		if (!log.dataset?.keep) return;
		while (log.childElementCount > +log.dataset.keep) log.firstElementChild.remove();
		if (atEnd) log.scrollTop = log.scrollHeight;
	});
	document.querySelectorAll('[data-tail]').forEach((log) => { log.scrollTop = log.scrollHeight; });

	// Times in the person's own zone.
	const zone = new Intl.DateTimeFormat(root.lang, { dateStyle: 'medium', timeStyle: 'medium' });
	document.addEventListener('mouseover', (e) => {
		const t = e.target.closest?.('time[datetime]');
		if (t) t.title = zone.format(new Date(t.dateTime));
	});

	// Passkeys.
	async function call(path, body) {
		const post = () => fetch('/system/api/' + path, {
			method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body ?? {}),
		});
		// Options may be asked for again when the network changes meanwhile.
		const resp = await (path.endsWith('/options') ? post().catch(post) : post());
		const answer = resp.status === 204 ? {} : await resp.json().catch(() => ({}));
		if (!resp.ok) throw Object.assign(new Error(answer.message || box.dataset.failed), { status: resp.status });
		return answer;
	}
	const can = () => window.isSecureContext && window.PublicKeyCredential?.parseRequestOptionsFromJSON;
	// checkPasskey asks for a passkey unless that was done of late, and then sends the form.
	async function checkPasskey(form, submitter) {
		try {
			const options = await call('auth/passkey/check/options');
			if (options) {
				const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
				const credential = await navigator.credentials.get({ publicKey });
				await call('auth/passkey/check/verify', { response: credential.toJSON() });
			}
		} catch (err) {
			// Without a session the form is sent, and the sign-in page is the answer.
			if (err.status !== 401) return toast(err.name === 'NotAllowedError' ? box.dataset.canceled : err.message, 'bad');
		}
		form.dataset.checked = 'yes';
		form.requestSubmit(submitter);
	}
	const ceremonies = {
		async signin() {
			const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(await call('auth/passkey/options'));
			const credential = await navigator.credentials.get({ publicKey });
			await call('auth/passkey/verify', { response: credential.toJSON() });
		},
		async register(form) {
			const options = await call('passkeys/registration/options', { name: form.elements.name.value });
			const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
			const credential = await navigator.credentials.create({ publicKey });
			await call('passkeys/registration/verify', { response: credential.toJSON() });
		},
	};
	document.querySelectorAll('[data-passkey]').forEach((form) => {
		if (!can()) {
			form.hidden = true;
			document.querySelectorAll(`[data-open="${form.closest('dialog')?.id}"]`).forEach((n) => { n.hidden = true; });
			document.querySelectorAll('[data-no-passkey]').forEach((n) => { n.hidden = false; });
			return;
		}
		form.addEventListener('submit', async (e) => {
			e.preventDefault();
			const button = form.querySelector('button');
			const failure = form.querySelector('[data-failure]');
			button.disabled = true;
			failure.hidden = true;
			try {
				await ceremonies[form.dataset.passkey](form);
				// An address that differs in its end only would not be loaded again.
				history.replaceState(null, '', form.dataset.next || location.href);
				location.reload();
			} catch (err) {
				failure.textContent = err.name === 'NotAllowedError' ? failure.dataset.canceled : err.message;
				failure.hidden = false;
				button.disabled = false;
			}
		});
	});
})();
