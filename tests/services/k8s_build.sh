#!/usr/bin/env bash
# A whole Kubernetes 1.20.2 by Debian's packages alone: etcd, and the API server, controller-manager, scheduler, kubelet and
# kubectl from source. Some eight minutes on two cores, once; the result, 420 MB, stays in a cache of the user.
#   k8s_build.sh           builds it, unless it is there
#   k8s_build.sh --where   prints the folder of its programs
# Traps: the vendored reflect2 1.0.1 breaks with Go 1.18 and newer (SIGSEGV on the first custom resource with labels),
# Debian's 1.0.2 replaces it; `go build -mod=vendor` fails where `make WHAT=` works, which needs rsync; apt gets a status file
# of its own, so that nothing installed here changes what it downloads, and nothing is installed.
set -euo pipefail
VERSION=1.20.2
TOP=${HERORUN_K8S:-${XDG_CACHE_HOME:-$HOME/.cache}/herorun/k8s}
[ "${1-}" != --where ] || { echo "$TOP/bin"; exit 0; }
whole() { [ -x "$TOP/bin/kube-apiserver" ] && [ -x "$TOP/bin/kubelet" ] && [ -x "$TOP/bin/etcd" ]; }
mkdir -p "$TOP"
exec 9>>"$TOP/lock"
flock 9 # one builds, the others wait for it
! whole || exit 0
W=$TOP/building
rm -rf "$W"
mkdir -p "$W"/{lists/partial,cache/archives/partial,debs,root,src,home,bin}
cd "$W"

# This machine's own source of Debian 12, with its sources switched on.
{ grep -hE '^deb ' /etc/apt/sources.list 2>/dev/null || true
  awk '
    function out() { if (u) print "deb " (k ? "[signed-by=" k "] " : "") u " " s " main"; u = k = "" }
    /^URIs:/ { u = $2 } /^Suites:/ { s = $2 } /^Signed-By:/ { k = $2 } /^$/ { out() } END { out() }
  ' /etc/apt/sources.list.d/*.sources 2>/dev/null || true
} | grep -E ' bookworm ' | head -n 1 >one.list
[ -s one.list ] || { echo "Kubernetes was not built: apt has no source of Debian 12 (bookworm) here." >&2; exit 3; }
{ cat one.list; sed 's/^deb /deb-src /' one.list; } >sources.list
: >status
cat >apt.conf <<CONF
Dir::Etc::sourcelist "$W/sources.list"; Dir::Etc::sourceparts "-"; Dir::State::lists "$W/lists";
Dir::Cache "$W/cache"; Dir::State::status "$W/status"; APT::Sandbox::User "root";
CONF
export APT_CONFIG=$W/apt.conf
apt-get -qq update
(cd debs && apt-get -qq download golang-1.19-go golang-1.19-src rsync libpopt0 libxxhash0 golang-github-modern-go-reflect2-dev etcd-server)
for package in debs/*.deb; do dpkg -x "$package" root; done
(cd src && apt-get -qq source --download-only kubernetes && tar xzf kubernetes_*.orig.tar.gz)
[ -d "src/kubernetes-$VERSION" ] || { echo "Kubernetes was not built: Debian's source is no longer $VERSION." >&2; exit 3; }

cd "src/kubernetes-$VERSION"
reflect2=vendor/github.com/modern-go/reflect2
rm $reflect2/*.go $reflect2/*.s
cp "$W"/root/usr/share/gocode/src/github.com/modern-go/reflect2/*.{go,s} $reflect2/
rm -f $reflect2/*_test.go
export GOROOT=$W/root/usr/lib/go-1.19 HOME=$W/home GOPROXY=off CGO_ENABLED=0 GOPATH=$PWD/.go
export PATH=$GOROOT/bin:$W/root/usr/bin:$PATH LD_LIBRARY_PATH=$W/root/usr/lib/$(uname -m)-linux-gnu
mkdir -p .go/src/k8s.io
ln -sfn ../../.. .go/src/k8s.io/kubernetes
make WHAT="cmd/kube-apiserver cmd/kube-controller-manager cmd/kube-scheduler cmd/kubelet cmd/kubectl" >"$TOP/make.log" 2>&1 ||
  { tail -n 20 "$TOP/make.log" >&2; exit 1; }
cp _output/local/bin/linux/*/kube* "$W/root/usr/bin/etcd" "$W/bin/"
mv "$W/bin" "$TOP/bin"
cd "$TOP"
rm -rf "$W"
