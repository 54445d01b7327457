package media_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/grill-plan/grill-plan/media"
)

// tool finds an outside program or skips; with REQUIRE_TOOLS=1 it must be
// there.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("REQUIRE_TOOLS") == "1" {
		t.Fatalf("%s is required: %v", name, err)
	}
	t.Skipf("%s is not installed", name)
	return ""
}

func runTool(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(tool(t, name), args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, stderr.String())
	}
	return out
}

func checkPath(t *testing.T, path, container string) *media.Facts {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	facts, err := media.Check(f, info.Size(), container)
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

// TestFFmpegLayouts checks what ffmpeg writes, in each layout, and holds the
// facts against ffprobe (MP4-12, MP4-13, MP4-15, MP4-16).
func TestFFmpegLayouts(t *testing.T) {
	layouts := map[string]string{
		"progressive":     "",
		"faststart":       "+faststart",
		"fragmented":      "+empty_moov+frag_keyframe",
		"default base":    "+empty_moov+frag_keyframe+default_base_moof",
		"every frame":     "+empty_moov+frag_every_frame",
		"first in moov":   "+frag_keyframe",
		"omit tfhd":       "+empty_moov+frag_keyframe+omit_tfhd_offset",
		"negative offset": "+negative_cts_offsets",
		"dash":            "+dash+frag_keyframe",
	}
	tool(t, "ffmpeg")
	tool(t, "ffprobe")
	dir := t.TempDir()
	source := filepath.Join(dir, "source.nut")
	runTool(t, "ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc=size=128x72:rate=30000/1001",
		"-f", "lavfi", "-i", "sine=sample_rate=44100", "-t", "2", "-c:v", "mpeg4", "-bf", "2", "-g", "12", "-c:a", "aac", "-ac", "2", source)
	for name, flags := range layouts {
		t.Run("MP4-13 "+name, func(t *testing.T) {
			path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".mp4")
			args := []string{"-v", "error", "-nostdin", "-i", source, "-c", "copy"}
			if flags != "" {
				args = append(args, "-movflags", flags)
			}
			// Priming is an edit of its own kind: keep tracks starting at 0.
			runTool(t, "ffmpeg", append(args, "-use_editlist", "0", "-avoid_negative_ts", "disabled", path)...)
			facts := checkPath(t, path, media.MP4)
			video := probe(t, path, "v:0")
			if facts.Video.Width != 128 || facts.Video.Height != 72 || facts.Video.Frames != video.packets {
				t.Errorf("got %+v, ffprobe counts %d frames", facts.Video, video.packets)
			}
			if num, den := facts.Video.FPSNumerator, facts.Video.FPSDenominator; name != "every frame" && (num != 30000 || den != 1001) {
				t.Errorf("rate %d/%d", num, den)
			}
			audio := probe(t, path, "a:0")
			if len(facts.Video.Tracks) != 1 || facts.Video.Tracks[0].Samples != audio.packets || facts.Video.Tracks[0].Bytes != audio.bytes {
				t.Errorf("got %+v, ffprobe counts %d packets of %d bytes", facts.Video.Tracks, audio.packets, audio.bytes)
			}
		})
	}
}

type probed struct{ packets, bytes uint64 }

func probe(t *testing.T, path, stream string) probed {
	t.Helper()
	out := runTool(t, "ffprobe", "-v", "error", "-ignore_editlist", "1", "-select_streams", stream, "-show_entries", "packet=size", "-of", "json", path)
	var report struct{ Packets []struct{ Size string } }
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatal(err)
	}
	p := probed{packets: uint64(len(report.Packets))}
	for _, packet := range report.Packets {
		n, err := strconv.ParseUint(packet.Size, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		p.bytes += n
	}
	return p
}

// TestEspeak: a file written to disk passes, a stream with placeholder sizes
// does not (WAV-11).
func TestEspeak(t *testing.T) {
	tool(t, "espeak-ng")
	dir := t.TempDir()
	path := filepath.Join(dir, "speech.wav")
	runTool(t, "espeak-ng", "-w", path, "one two three")
	facts := checkPath(t, path, media.WAV)
	if facts.Audio.SampleRate != 22050 || facts.Audio.Channels != 1 || facts.Audio.Frames == 0 {
		t.Errorf("WAV-09: got %+v", facts.Audio)
	}
	streamed := runTool(t, "espeak-ng", "--stdout", "one two three")
	if _, err := check(streamed, media.WAV); err == nil {
		t.Error("WAV-11: a streamed file with placeholder sizes was accepted")
	}
}
