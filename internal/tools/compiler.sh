#!/bin/sh
# The race detector needs a C compiler. As root on a Debian-like machine this installs one, elsewhere it says how.
command -v "$(go env CC | cut -d' ' -f1)" >/dev/null && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	echo "make: installing gcc with apt-get, for the race detector ..." >&2
	export DEBIAN_FRONTEND=noninteractive
	log=$(apt-get update -qq 2>&1 && apt-get install -y -qq --no-install-recommends gcc libc6-dev 2>&1) && exit 0
	echo "$log" | tail -n 10 >&2
fi
echo "make: the race detector needs a C compiler; on Debian or Ubuntu: sudo apt-get install gcc libc6-dev" >&2
exit 1
