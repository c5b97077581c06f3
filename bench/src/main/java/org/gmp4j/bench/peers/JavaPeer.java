// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

import java.util.List;
import java.util.Locale;

/** A process that does one work on one kit. Arguments: peer, work, Ps, seconds of warm-up, seconds, variants. */
final class JavaPeer {
    /** What waits longer for its turn never gets it. */
    static final long LIMIT_NANOS = 2_000_000_000L;

    private JavaPeer() {
    }

    /** Prints the figures and exits with 0. */
    public static void main(String[] args) {
        Peer peer = Peer.valueOf(args[0].toUpperCase(Locale.ROOT));
        int procs = Integer.parseInt(args[2]);
        Meter.Settings settings = new Meter.Settings(nanos(args[3]), nanos(args[4]), LIMIT_NANOS, 1);
        List<String> variants = args.length > 5 ? List.of(args).subList(5, args.length) : List.of("");
        for (String variant : variants) {
            Kit kit = kit(peer, procs, variant);
            run(args[1], procs, kit, new Meter(settings, variant, System.out::println));
            if (!variant.equals(variants.getLast())) {
                kit.close(); // Not the last one: it would wait for all that have been parked.
            }
        }
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static long nanos(String seconds) {
        return (long) (Double.parseDouble(seconds) * 1e9);
    }

    /** Makes a Java peer's kit. */
    static Kit kit(Peer peer, int procs, String variant) {
        return switch (peer) {
            case GMP4J -> new GmpKit(procs, variant);
            case JDK -> new JdkKit(true);
            case THREADS -> new JdkKit(false);
            default -> throw new IllegalArgumentException(peer + " is not a Java peer");
        };
    }

    /** Does one work. */
    static void run(String work, int procs, Kit kit, Meter m) {
        String suffix = "/procs=" + procs;
        if (!Works.run(work, suffix, kit, m) && !Traced.run(work, suffix, kit, m) && !Waits.run(work, kit, m)
                && !Resources.run(work, kit, m)) {
            throw new IllegalArgumentException("unknown work " + work);
        }
    }
}
