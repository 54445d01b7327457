package synth

// SHA-256 of files with fixed options.
const (
	goldenPNG   = "7fb3accb51b4afade86d5151ca758eee7ee3488a810fc3cd3c66f6b28e04a4d7"
	goldenJPEG  = "cdd227e5428025b2c4a20bbb16cd48260666cf4468d838aab972458098e9c332"
	goldenAudio = "a07d8b01de272fa1b782e7b3a5d7c6b6147468dd27a7be74f622da5b2d30109f"
	goldenVideo = "eb73c28b1b8875233a4be6fd6939bb3ed55663068fcca4da1b10faa1d8d7cbe5"
)
