#!/usr/bin/env bash
# The particle benchmark by SPlisHSPlasH, by salva and by Meniscus, one after the other on this machine: ns per particle and step.
# usage: run.sh [n ...]    default 31 46
set -euo pipefail
cd "$(dirname "$0")"
root=$(git rev-parse --show-toplevel)
work=$root/target/peers-sph
sizes=("${@:-31}"); [ $# -gt 0 ] || sizes=(31 46)
mkdir -p "$work"

cargo build --quiet --release --manifest-path "$root/Cargo.toml" -p meniscus-cli
CARGO_TARGET_DIR=$work/salva cargo build --quiet --release --manifest-path salva/Cargo.toml

python=$work/python
if [ ! -x "$python/bin/python" ]; then
    python3 -m venv "$python"
    "$python/bin/pip" install --quiet --disable-pip-version-check pysplishsplash==2.19
fi
# The wheel brings parts of libGL that crash beside the system's: the system's take their place.
libs=$(echo "$python"/lib/python3*/site-packages/pysplishsplash.libs)
for name in libGLU libGLX libGLdispatch libOpenGL; do
    system=$(ldconfig -p | awk -v n="$name.so" 'index($1, n) == 1 { print $NF; exit }')
    for bundled in "$libs/$name"-*; do
        [ -z "$system" ] || ln -sf "$system" "$bundled"
    done
done

printf '%-22s %4s %8s %14s\n' engine n threads 'ns/particle-step'
{
for n in "${sizes[@]}"; do
    for threads in 1 2; do
        for method in wcsph dfsph; do
            OMP_NUM_THREADS=$threads "$python/bin/python" splishsplash.py "$method" "$n" "$threads" "$work" | grep ^SPlisHSPlasH
        done
        RAYON_NUM_THREADS=$threads "$work/salva/release/salva-peer" "$n" "$threads"
        for case in sph/state-equation sph/dfsph; do
            "$root/target/release/meniscus" bench "$case" --json --one "$n,$threads" |
                python3 -c 'import json, sys; m = json.load(sys.stdin); print("%-22s %4d %8d %14.0f" % ("Meniscus " + m["case"][4:], m["size"], m["threads"], m["ns_per_item_step"]))'
        done
    done
done
} | tee "$work/table"

# How many times as long the others take.
awk '
    { time[$1 " " $2, $3, $4] = $5; sizes[$3]; threads[$4] }
    function ratio(peer, ours, n, t) {
        if (time[peer, n, t] && time[ours, n, t])
            printf "%-22s %4d %8d %13.1fx\n", peer, n, t, time[peer, n, t] / time[ours, n, t]
    }
    END {
        print "\nratio to ours"
        for (n in sizes) for (t in threads) {
            ratio("SPlisHSPlasH wcsph", "Meniscus state-equation", n, t)
            ratio("SPlisHSPlasH dfsph", "Meniscus dfsph", n, t)
            ratio("salva dfsph", "Meniscus dfsph", n, t)
        }
    }' "$work/table"
