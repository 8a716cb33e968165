package order

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// recorder keeps the order in which tasks begin and end.
type recorder struct {
	mu     sync.Mutex
	events []string
}

func (r *recorder) add(event string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, event)
}

func (r *recorder) indexOf(event string) int { return slices.Index(r.events, event) }

func TestRunKeepsTheOrder(t *testing.T) {
	names := []string{"db", "cache", "web", "proxy"}
	tasks := []Task{{}, {}, {After: []int{0, 1}}, {After: []int{2}}}
	var r recorder
	var both sync.WaitGroup
	both.Add(2)
	begun := Run(tasks, 4, func(i int, _ *Place) bool {
		r.add("begin " + names[i])
		if i < 2 {
			// Neither ends before the other has begun.
			both.Done()
			both.Wait()
		}
		r.add("end " + names[i])
		return true
	})
	if slices.Contains(begun, false) {
		t.Errorf("begun: %v", begun)
	}
	for _, pair := range [][2]string{{"end db", "begin web"}, {"end cache", "begin web"}, {"end web", "begin proxy"}} {
		if r.indexOf(pair[0]) > r.indexOf(pair[1]) {
			t.Errorf("%q comes after %q: %v", pair[0], pair[1], r.events)
		}
	}
}

func TestRunHasSoManyPlaces(t *testing.T) {
	var mu sync.Mutex
	now, most := 0, 0
	first := make(chan struct{})
	Run(make([]Task, 20), 4, func(i int, _ *Place) bool {
		mu.Lock()
		now++
		most = max(most, now)
		if now == 4 {
			select {
			case <-first:
			default:
				close(first)
			}
		}
		mu.Unlock()
		<-first
		mu.Lock()
		now--
		mu.Unlock()
		return true
	})
	if most != 4 {
		t.Errorf("%d tasks ran at once, want 4", most)
	}
}

func TestRunEndsAfterAFailure(t *testing.T) {
	tests := []struct {
		name  string
		tasks []Task
		want  []bool
	}{
		{"what has not begun is left out", []Task{{}, {After: []int{0}}, {After: []int{1}}}, []bool{true, false, false}},
		{"what was begun before does not wait for what is left out", []Task{{}, {After: []int{0}}, {After: []int{1}, Begun: true}},
			[]bool{true, false, true}},
		{"what was begun before goes on", []Task{{}, {After: []int{0}, Begun: true}, {After: []int{1}}}, []bool{true, true, false}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Run(tt.tasks, 4, func(i int, _ *Place) bool { return i != 0 }); !slices.Equal(got, tt.want) {
				t.Errorf("begun: %v, want %v", got, tt.want)
			}
		})
	}
	if got := Run([]Task{{After: []int{1}}, {After: []int{0}}}, 1, func(int, *Place) bool { return true }); slices.Contains(got, true) {
		t.Errorf("a circle has begun: %v", got)
	}
}

// TestPlaceIsLeft: with one place, tasks go on beside one that has left it, and it gets it back before others begin.
func TestPlaceIsLeft(t *testing.T) {
	var r recorder
	second, goOn := make(chan struct{}), make(chan struct{})
	Run(make([]Task, 3), 1, func(i int, p *Place) bool {
		switch i {
		case 0:
			p.Leave()
			<-second
			go func() {
				p.run.mu.Lock()
				for p.run.waiting == 0 {
					p.run.mu.Unlock()
					p.run.mu.Lock()
				}
				p.run.mu.Unlock()
				close(goOn)
			}()
			p.Return()
			r.add("first is back")
		case 1:
			close(second)
			<-goOn
		case 2:
			r.add("third begins")
		}
		return true
	})
	if want := []string{"first is back", "third begins"}; !slices.Equal(r.events, want) {
		t.Errorf("got %v, want %v", r.events, want)
	}
	var none *Place
	none.Leave()
	none.Return()
}

// TestPanicOfATask: a panic goes on in the caller, after the tasks beside it have ended.
func TestPanicOfATask(t *testing.T) {
	beside := false
	defer func() {
		if v := recover(); v == nil || !strings.Contains(fmt.Sprint(v), "no such thing") || !beside {
			t.Errorf("panicked with %v, the other task ended: %v", v, beside)
		}
	}()
	failed := make(chan struct{})
	Run(make([]Task, 2), 2, func(i int, _ *Place) bool {
		if i == 0 {
			defer close(failed)
			panic("no such thing")
		}
		<-failed
		beside = true
		return true
	})
}

// TestEndedTasksAreBegunAgain: what an earlier attempt has begun goes on though it waits for what that has ended.
func TestEndedTasksAreBegunAgain(t *testing.T) {
	tasks := []Task{{Begun: true}, {Begun: true}, {Begun: true}, {After: []int{2}, Begun: true}}
	if got := Run(tasks, 1, func(i int, _ *Place) bool { return i != 0 }); slices.Contains(got, false) {
		t.Errorf("begun: %v", got)
	}
}
