// What the pages do beyond showing themselves. Everything is found by attributes, so that no page carries script of its own.
(() => {
	const root = document.documentElement;
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

	// Forms that change something ask first where they say so, and are sent once.
	document.addEventListener('submit', (e) => {
		const form = e.target;
		if (!form.dataset.checked) {
			if (form.dataset.confirm && !confirm(form.dataset.confirm)) return e.preventDefault();
			if ('passkeyCheck' in form.dataset && can()) {
				e.preventDefault();
				return checkPasskey(form, e.submitter);
			}
		}
		delete form.dataset.checked;
		if (e.target.method === 'post' && !e.target.dataset.passkey) {
			const button = e.submitter;
			if (button) setTimeout(() => { button.disabled = true; });
		}
	});
	window.addEventListener('pageshow', (e) => {
		if (e.persisted) document.querySelectorAll('button:disabled').forEach((b) => { b.disabled = false; });
	});
	document.addEventListener('change', (e) => {
		if (e.target.closest('[data-autosubmit]') && e.target.matches('select')) e.target.form.requestSubmit();
	});

	// Keys: / the filter, g and a letter a page, ? the list.
	let leader = 0;
	document.addEventListener('keydown', (e) => {
		if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest('input,textarea,select,[contenteditable]')) return;
		if (e.key === '/') {
			const filter = document.querySelector('[data-filter]');
			if (filter) { filter.focus(); e.preventDefault(); }
		} else if (e.key === '?') {
			document.getElementById('shortcuts')?.showModal();
		} else if (e.key === 'g') {
			leader = Date.now();
			return;
		} else if (Date.now() - leader < 1500 && /^[a-z]$/.test(e.key)) {
			document.querySelector(`nav a[data-key="${e.key}"]`)?.click();
		}
		leader = 0;
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
			setTimeout(() => { if (part.isConnected) htmx.ajax('GET', part.getAttribute('hx-sse:connect'), { source: part }); }, 3000);
		});
	}
	document.addEventListener('htmx:sse:close', (e) => {
		if (e.detail?.reason === 'message') document.querySelectorAll('[data-live-sign]').forEach((s) => { s.hidden = true; });
	});
	document.addEventListener('htmx:sse:after:message', (e) => {
		const log = e.target.querySelector?.('[data-tail]');
		if (log) log.scrollTop = log.scrollHeight;
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
		const resp = await fetch('/system/api/' + path, {
			method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body ?? {}),
		});
		const answer = resp.status === 204 ? {} : await resp.json().catch(() => ({}));
		if (!resp.ok) throw new Error(answer.message || box.dataset.failed);
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
			return toast(err.name === 'NotAllowedError' ? box.dataset.canceled : err.message, 'bad');
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
