// SPDX-License-Identifier: Apache-2.0
// ./gmp run bench/examples/Sieve.java [PRIMES]
// The sieve of primes, a goroutine for each prime: it hands on what its prime does not divide. On 1, 2 and 8 Ps, three times each.

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.LongChan;
import org.gmp4j.Select;

public class Sieve {
    public static void main(String[] args) {
        int n = args.length > 0 ? Integer.parseInt(args[0]) : 2_000;
        for (int procs : new int[] {1, 2, 8}) {
            for (int run = 1; run <= 3; run++) {
                run(procs, n);
            }
        }
    }

    private static void run(int procs, int n) {
        long[] last = new long[1];
        long start = System.nanoTime();
        try (Gmp gmp = Gmp.builder().procs(procs).build()) {
            gmp.run(() -> last[0] = primes(n));
        }
        long time = System.nanoTime() - start;
        boolean right = last[0] == plain(n);
        System.out.printf("%d Ps: prime number %,d is %,d (%s), %.0f ms%n", procs, n, last[0], right ? "right" : "WRONG",
                time / 1e6);
        if (!right) {
            System.exit(1);
        }
    }

    private static long primes(int n) {
        LongChan stop = LongChan.make(); // Closed at the end: all goroutines give up then.
        LongChan in = LongChan.make();
        LongChan numbers = in;
        Go.go(() -> {
            Select next = Select.of();
            boolean go = true;
            for (long i = 2; go; i++) {
                go = send(next, numbers, i, stop);
            }
        });
        long prime = 0;
        for (int i = 0; i < n; i++) {
            prime = in.recv();
            long p = prime;
            LongChan from = in;
            LongChan to = LongChan.make();
            Go.go(() -> filter(from, to, p, stop));
            in = to;
        }
        stop.close();
        return prime;
    }

    private static void filter(LongChan from, LongChan to, long prime, LongChan stop) {
        long[] next = new long[1];
        Select recv = Select.of().recvLong(from, v -> next[0] = v).recvLong(stop, v -> { });
        Select send = Select.of();
        while (recv.run() == 0) {
            if (next[0] % prime != 0 && !send(send, to, next[0], stop)) {
                return;
            }
        }
    }

    /** False when it is to stop. A select that is used again allocates nothing. */
    private static boolean send(Select select, LongChan c, long v, LongChan stop) {
        return select.clear().sendLong(c, v, () -> { }).recvLong(stop, x -> { }).run() == 0;
    }

    private static long plain(int n) {
        long prime = 1;
        for (int found = 0; found < n;) {
            prime++;
            boolean divided = false;
            for (long d = 2; d * d <= prime && !divided; d++) {
                divided = prime % d == 0;
            }
            found += divided ? 0 : 1;
        }
        return prime;
    }
}
