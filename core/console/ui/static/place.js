// Lists keep their place over what comes in, after a form, and on the way back from one of their items.
(() => {
	const listShown = () => [...document.querySelectorAll('[data-scroll]')].find((l) => l.getClientRects().length);
	const addressOf = (list) => list.dataset.scroll || location.href.split('#')[0];
	const topOf = (el) => el.getBoundingClientRect().top;
	function placeOf(list) {
		const row = [...list.querySelectorAll('[data-row][id]')].find((r) => topOf(r) >= 0);
		return { of: addressOf(list), y: scrollY, id: row?.id, top: row && topOf(row) };
	}
	function goBackTo({ id, top, y }) {
		const row = y && id && document.getElementById(id);
		if (y) scrollTo(0, row ? scrollY + topOf(row) - top : y);
	}
	const left = JSON.parse(sessionStorage.place ?? '{}');
	// A form may come back to the row that it was in.
	let named = null;
	try {
		named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
	} catch {
		// An address that somebody has cut off names no row.
	}
	if (listShown() && left.of === addressOf(listShown()) && (!location.hash || listShown().contains(named))) {
		goBackTo(left);
		// The browser goes to that row once the page has loaded.
		if (named) addEventListener('load', () => goBackTo(left));
	}
	addEventListener('pagehide', () => {
		if (listShown()) sessionStorage.place = JSON.stringify(placeOf(listShown()));
		else if (!document.querySelector('.crumb,.back')) sessionStorage.removeItem('place');
	});
	let held = {};
	document.addEventListener('htmx:sse:before:message', () => { held = listShown() ? placeOf(listShown()) : {}; });
	document.addEventListener('htmx:sse:after:message', () => goBackTo(held));
})();
