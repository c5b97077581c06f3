// SPDX-License-Identifier: Apache-2.0
// ./gmp run bench/examples/Pipeline.java [NUMBERS] [WANTED]
// Numbers go through a stage of four goroutines that square them and come together again; the reader has enough after
// WANTED of them and cancels the context whose end stands in all selects: everybody ends. On 1, 2 and 8 Ps, three times each.

import java.util.ArrayList;
import java.util.List;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.Select;
import org.gmp4j.context.Context;
import org.gmp4j.sync.WaitGroup;

public class Pipeline {
    private static final int SQUARERS = 4;

    public static void main(String[] args) {
        int numbers = args.length > 0 ? Integer.parseInt(args[0]) : 1_000_000;
        int wanted = args.length > 1 ? Integer.parseInt(args[1]) : 200_000;
        for (int procs : new int[] {1, 2, 8}) {
            for (int run = 1; run <= 3; run++) {
                run(procs, numbers, wanted);
            }
        }
    }

    private static void run(int procs, int numbers, int wanted) {
        long start = System.nanoTime();
        boolean[] right = new boolean[1];
        try (Gmp gmp = Gmp.builder().procs(procs).build()) {
            gmp.run(() -> right[0] = run(numbers, wanted));
        } // Comes back when all goroutines have ended.
        long time = System.nanoTime() - start;
        System.out.printf("%d Ps: %,d of %,d numbers (%s), then cancelled, %.0f ms%n", procs, wanted, numbers,
                right[0] ? "right" : "WRONG", time / 1e6);
        if (!right[0]) {
            System.exit(1);
        }
    }

    private static boolean run(int numbers, int wanted) {
        Context ctx = Context.background().withCancel();
        Chan<Long> source = Chan.make();
        Go.go(() -> {
            Select next = Select.of();
            long n = 1;
            while (n <= numbers && send(next, source, n, ctx)) {
                n++;
            }
            source.close();
        });
        List<Chan<Long>> squared = new ArrayList<>();
        for (int i = 0; i < SQUARERS; i++) {
            Chan<Long> out = Chan.make();
            squared.add(out);
            Go.go(() -> {
                Select next = Select.of();
                for (long v : source) {
                    if (!send(next, out, v * v, ctx)) {
                        break;
                    }
                }
                out.close();
            });
        }
        Chan<Long> results = merge(squared, ctx);
        boolean right = true;
        for (int i = 0; i < wanted; i++) {
            long v = results.recv();
            long root = Math.round(Math.sqrt(v));
            right &= root * root == v && root <= numbers;
        }
        ctx.cancel();
        return right;
    }

    private static Chan<Long> merge(List<Chan<Long>> in, Context ctx) {
        Chan<Long> out = Chan.make();
        WaitGroup all = new WaitGroup();
        for (Chan<Long> c : in) {
            all.go(() -> {
                Select next = Select.of();
                for (long v : c) {
                    if (!send(next, out, v, ctx)) {
                        return;
                    }
                }
            });
        }
        Go.go(() -> {
            all.await();
            out.close();
        });
        return out;
    }

    /** False when it is cancelled. A select that is used again allocates nothing. */
    private static boolean send(Select next, Chan<Long> c, long v, Context ctx) {
        return next.clear().send(c, v, () -> { }).recv(ctx.done(), x -> { }).run() == 0;
    }
}
