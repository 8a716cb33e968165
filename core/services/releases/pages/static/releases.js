// Keys of the feed: o opens the item with the focus, m marks it as read or unread. j and k are those of all lists.
(() => {
	'use strict';
	document.addEventListener('keydown', (e) => {
		if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector('dialog[open]')) return;
		if (e.target.closest('input:not([type=checkbox]),textarea,select,[contenteditable]')) return;
		const row = document.activeElement.closest('.item[data-row]');
		if (!row) return;
		if (e.key === 'o' || (e.key === 'Enter' && document.activeElement === row)) {
			row.querySelector('a.open')?.click();
		} else if (e.key === 'm') {
			row.querySelector('[data-mark]')?.click();
		}
	});
})();
