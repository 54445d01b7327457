package process

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// childVariable makes the test binary play a program instead of running tests.
const childVariable = "PROCESS_TEST_CHILD"

func TestMain(m *testing.M) {
	if play := os.Getenv(childVariable); play != "" {
		os.Exit(playChild(play))
	}
	// A program built with the race detector would stay for a second when it ends.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	os.Exit(m.Run())
}

// playChild does what real programs do, each in one word.
func playChild(play string) int {
	name, argument, _ := strings.Cut(play, " ")
	number, _ := strconv.Atoi(argument)
	switch name {
	case "exit":
		return number
	case "signal":
		_ = syscall.Kill(os.Getpid(), syscall.Signal(number))
		time.Sleep(time.Minute)
	case "print":
		os.Stdout.WriteString(strings.Repeat("o", number))
		os.Stderr.WriteString(strings.Repeat("e", number))
	case "environment":
		for _, entry := range os.Environ() {
			fmt.Println(entry)
		}
	case "describe":
		input, _ := os.ReadFile("/dev/stdin")
		dir, _ := os.Getwd()
		fmt.Printf("%s|%d|%s|%v", os.Args[0], len(input), dir, syscall.Getpgrp() == os.Getpid())
	case "sleep":
		time.Sleep(time.Minute)
	case "ignore-term":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		fmt.Println("ready")
		time.Sleep(time.Minute)
	case "stop":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	case "close":
		os.Stdout.Close()
		os.Stderr.Close()
		time.Sleep(150 * time.Millisecond)
	case "burn":
		for start := time.Now(); time.Since(start) < time.Duration(number)*time.Millisecond; {
		}
	case "grandchild", "escape":
		return fork(name == "escape", argument)
	}
	return 0
}

// fork starts a grandchild that keeps the streams, in the group or out of it,
// prints its pid and ends at once.
func fork(escape bool, play string) int {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), childVariable+"="+play)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: escape}
	if err := command.Start(); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(command.Process.Pid)
	return 0
}
