// Package console is what people see in a browser: the frame with its navigation, sign-in, the home page with the patch
// panel, plugins, jobs and accounts. The pages of services are Sections.
//
// How a service adds its pages: its package pages has a function that takes the service and returns a ui.Section, which its
// package module hands to the core. A Section names its entries of the navigation, its texts (en.json and zh.json with the same
// ids, each with the service's name in it), static files of its own, a card for the home page, and its routes. The routes are
// added to the service's own mount, so that their paths are relative to its base URL and that scopes of API keys count for
// them:
//
//	func Section(s *search.Service, base string) (ui.Section, error) {
//		return ui.NewSection(ui.Section{
//			Service: "search", Nav: []ui.NavItem{{TextID: "search.nav.tokens", Href: base + "/tokens", Key: "t", Prefix: true}},
//			Routes: pages{service: s}.pageRoutes,
//		}, files)
//	}
//
// A handler makes a view, reads from the service's verbs and renders a templ component inside ui.Layout:
//
//	func (p pages) tokens(c *gin.Context) {
//		v := p.kit.View(c, "search.tokens.title")
//		list, err := p.service.Tokens(c.Request.Context(), auth.From(c.Request.Context()))
//		if err != nil {
//			p.kit.Fail(c, err)
//			return
//		}
//		p.kit.Render(c, v, http.StatusOK, tokensPage(v, list))
//	}
//
// A form is sent by POST to a route of its own, which calls the verb and answers with Kit.Done: the browser goes on to a
// page, which tells what was done. Kit.Fail answers with an error page. A part of a page that is to be live is an element with
// ui.Live(url), and a route that calls Kit.Stream with the same component. Policies: httpd.APIKey for whoever is signed in,
// httpd.Admin for administrators, httpd.Session for what an API key must not do.
//
// Templates are templ files; "make generate" writes the Go files beside them, which are committed.
package console
