package httpd_test

import (
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/httpd"
)

func TestCellsAreNoFormulas(t *testing.T) {
	w := httptest.NewRecorder()
	c, _ := gin.CreateTestContext(w)
	f, err := httpd.NewRowFile(c, "x", httpd.FormatCSV, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	for _, cells := range [][]string{{"=1+1", "plain"}, {"+1", "-1"}, {"@x", "a=b"}, {"\tx", ""}} {
		if err := f.Write(nil, cells); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := "a,b\n'=1+1,plain\n'+1,'-1\n'@x,a=b\n'\tx,\n"; w.Body.String() != want {
		t.Errorf("got %q", w.Body)
	}
}
