// The service worker: it shows what is pushed and opens what that is about. It keeps nothing and answers no request.
'use strict';
const look = { icon: '/icon', badge: '/badge' };
const home = new URL('/', self.location).href;

// subscriptions returns the address of subscriptions, which the page that registers the worker names; '' if it names none of
// this site.
function subscriptions() {
	const path = new URL(self.location).searchParams.get('subscriptions');
	const named = path && new URL(path, home);
	return named && named.origin === self.location.origin ? named.href : '';
}

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (e) => e.waitUntil(self.clients.claim()));

// read takes a message apart; anything but an object has no members.
function read(data) {
	try {
		return Object(data.json());
	} catch {
		return {};
	}
}

const text = (v) => (typeof v === 'string' && v.trim() ? v : '');
const news = () => (/^zh/i.test(self.navigator.language) ? '有新的通知。' : 'There is news.');

// address is a page of this site or one with https; anything else is the home page.
function address(raw) {
	try {
		const u = new URL(text(raw) || home, self.registration.scope);
		return u.origin === self.location.origin || u.protocol === 'https:' ? u.href : home;
	} catch {
		return home;
	}
}

self.addEventListener('push', (e) => {
	const m = read(e.data);
	const title = text(m.title);
	const tag = text(m.id) || (text(m.sentAt) && text(m.sentAt) + ' ' + text(m.kind));
	e.waitUntil(self.registration.showNotification(title || 'Patchbay', {
		...look,
		body: text(m.body) || (title ? '' : news()),
		// A repetition replaces what is shown already.
		...(tag ? { tag } : {}),
		data: { url: address(m.url) },
	}));
});

async function show(url) {
	const windows = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
	const there = windows.find((w) => w.url === url);
	return there ? there.focus() : self.clients.openWindow(url);
}

self.addEventListener('notificationclick', (e) => {
	e.notification.close();
	e.waitUntil(show(address(e.notification.data?.url)));
});

function tell(method, subscription) {
	return fetch(subscriptions(), {
		method, credentials: 'same-origin', headers: { 'Content-Type': 'application/json' },
		body: JSON.stringify({ endpoint: subscription.endpoint, keys: subscription.toJSON().keys }),
	});
}

// The push service has given the subscription up, or replaced it.
async function renew(before, after) {
	if (!subscriptions()) return;
	if (!after && before) {
		after = await self.registration.pushManager.subscribe({
			userVisibleOnly: true, applicationServerKey: before.options.applicationServerKey,
		});
	}
	if (!after) return;
	await tell('POST', after);
	if (before && before.endpoint !== after.endpoint) await tell('DELETE', before);
}

self.addEventListener('pushsubscriptionchange', (e) => e.waitUntil(renew(e.oldSubscription, e.newSubscription)));
