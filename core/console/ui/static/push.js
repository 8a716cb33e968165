// The button that switches notifications of this browser on and off: [data-push], and [data-push-state] for its state.
(() => {
	const able = () => window.isSecureContext && 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window;

	function bytes(key) {
		const raw = atob(key.replace(/-/g, '+').replace(/_/g, '/').replace(/=+$/, ''));
		return Uint8Array.from(raw, (c) => c.charCodeAt(0));
	}

	const same = (a, b) => !a || (a.byteLength === b.byteLength && new Uint8Array(a).every((v, i) => v === b[i]));

	function wire(button) {
		const d = button.dataset;
		const sign = document.querySelector('[data-push-state]');
		sign?.setAttribute('aria-live', 'polite');
		const texts = { on: d.textOn, off: d.textOff, blocked: d.textBlocked, unsupported: d.textUnsupported, failed: d.textFailed };
		const labels = { on: d.labelOn, off: d.labelOff };

		function say(state, shown) {
			d.state = state;
			button.disabled = state === 'unsupported' || state === 'blocked';
			button.setAttribute('aria-pressed', state === 'on');
			if (labels[state]) button.textContent = labels[state];
			if (sign) {
				sign.dataset.pushState = shown || state;
				sign.textContent = texts[shown || state] || '';
			}
			button.dispatchEvent(new CustomEvent('patchbay:push', { bubbles: true, detail: { state } }));
		}

		async function current() {
			const registration = await navigator.serviceWorker.getRegistration('/');
			return (await registration?.pushManager.getSubscription()) || null;
		}

		// state looks at the browser; a subscription for another key is none.
		async function state() {
			if (!able() || !d.pushKey) return 'unsupported';
			if (Notification.permission === 'denied') return 'blocked';
			const sub = await current();
			return sub && same(sub.options?.applicationServerKey, bytes(d.pushKey)) ? 'on' : 'off';
		}

		async function tell(method, sub) {
			const resp = await fetch(d.pushUrl, {
				method, credentials: 'same-origin', headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
				body: JSON.stringify({ endpoint: sub.endpoint, keys: sub.toJSON().keys }),
			});
			if (!resp.ok && !(method === 'DELETE' && resp.status === 404)) throw new Error('status ' + resp.status);
		}

		async function on() {
			if (await Notification.requestPermission() !== 'granted') return;
			const worker = new URL(d.pushWorker || '/sw.js', location.origin);
			worker.searchParams.set('subscriptions', new URL(d.pushUrl, location.href).pathname);
			await navigator.serviceWorker.register(worker, { scope: '/', updateViaCache: 'none' });
			const registration = await navigator.serviceWorker.ready;
			await (await registration.pushManager.getSubscription())?.unsubscribe();
			const sub = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(d.pushKey) });
			try {
				await tell('POST', sub);
			} catch (err) {
				await sub.unsubscribe();
				throw err;
			}
		}

		async function off() {
			const sub = await current();
			if (!sub) return;
			await tell('DELETE', sub);
			await sub.unsubscribe();
		}

		button.addEventListener('click', async () => {
			button.disabled = true;
			let shown = '';
			try {
				await (d.state === 'on' ? off() : on());
			} catch {
				shown = 'failed';
			}
			const now = await state().catch(() => 'off');
			say(now, now === 'blocked' ? '' : shown);
		});
		button.disabled = true;
		state().then((s) => say(s), () => say('off', 'failed'));
	}

	document.querySelectorAll('[data-push]').forEach(wire);
})();
