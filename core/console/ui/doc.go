// Package ui is what all pages of the console share: the frame with its navigation, texts in every language, the
// static files, forms of numbers and times, and the small components that pages are built of.
//
// A page is a templ component inside Layout. Its handler gets a View from Kit.View, which knows the language, the theme
// and the caller, and answers with Kit.Render. Nothing in a page may be inline script or style: the policy that
// Kit.Render sends forbids both. Texts stand in locales/en.json and locales/zh.json and are written with View.T.
package ui
