package png_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// vector is one exact case.
type vector struct {
	ID     string
	Base64 []byte
	Expect struct {
		Valid  bool
		Width  *uint64
		Height *uint64
	}
}

func readVectors(t testing.TB) []vector {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "testdata", "vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Groups map[string]struct{ Cases []json.RawMessage }
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	for _, c := range all.Groups["png_files"].Cases {
		var v vector
		if err := json.Unmarshal(c, &v); err != nil {
			t.Fatal(err)
		}
		vectors = append(vectors, v)
	}
	if len(vectors) == 0 {
		t.Fatal("no cases")
	}
	return vectors
}

// valid returns the bytes of a case.
func valid(t testing.TB, id string) []byte {
	t.Helper()
	for _, v := range readVectors(t) {
		if v.ID == id {
			return v.Base64
		}
	}
	t.Fatalf("no case %s", id)
	return nil
}
