package process

func isZombie(pid int) bool {
	stat, ok := readStat(pid)
	return ok && !stat.alive()
}
