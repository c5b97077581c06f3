// SPDX-License-Identifier: Apache-2.0
// ./gmp run [--dashboard 8080] bench/examples/Profiled.java [SECONDS [FOLDER]]
// Two tenants' requests are received, compressed and stored under one lock: a program to look at. Writes cpu.pb.gz and block.pb.gz.

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.metrics.CpuProfiler;
import org.gmp4j.metrics.Labels;
import org.gmp4j.metrics.Profile;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.WaitGroup;

public class Profiled {
    private static final int CLIENTS = 4;
    private static final Mutex STORE = new Mutex();
    private static final Map<Long, Integer> SUMS = new HashMap<>();

    public static void main(String[] args) throws Exception {
        long end = System.nanoTime() + (args.length > 0 ? Long.parseLong(args[0]) : 5) * 1_000_000_000;
        Path folder = Path.of(args.length > 1 ? args[1] : ".");
        try (Gmp gmp = Gmp.builder().build()) {
            gmp.setBlockProfileRate(Duration.ofNanos(10_000));
            Profile cpu;
            try (CpuProfiler profiler = gmp.startCpuProfile(Duration.ofMillis(2))) {
                gmp.run(() -> {
                    WaitGroup all = new WaitGroup();
                    for (String tenant : List.of("blue", "green")) {
                        Labels.run(Map.of("tenant", tenant), () -> {
                            for (int i = 0; i < CLIENTS; i++) {
                                all.go(() -> serve(end, tenant.equals("blue") ? 3 : 1));
                            }
                        });
                    }
                    all.await();
                });
                cpu = profiler.stop();
            }
            cpu.write(folder.resolve("cpu.pb.gz"));
            gmp.blockProfile().write(folder.resolve("block.pb.gz"));
            System.out.printf("%d checksums (%s), profiles are in cpu.pb.gz and block.pb.gz%n", SUMS.size(),
                    SUMS.isEmpty() ? "WRONG" : "right");
        }
    }

    private static void serve(long end, int times) {
        Random random = new Random(1);
        do {
            byte[] body = receive(random);
            for (int i = 0; i < times; i++) {
                body = compress(body);
            }
            store(checksum(body), body.length);
            Go.gosched();
        } while (System.nanoTime() < end);
    }

    private static byte[] receive(Random random) {
        byte[] body = new byte[4096];
        random.nextBytes(body);
        Arrays.sort(body);
        return body;
    }

    private static byte[] compress(byte[] body) {
        Deflater deflater = new Deflater();
        try {
            deflater.setInput(body);
            deflater.finish();
            byte[] out = new byte[2 * body.length + 64];
            return Arrays.copyOf(out, deflater.deflate(out));
        } finally {
            deflater.end();
        }
    }

    private static long checksum(byte[] body) {
        CRC32 crc = new CRC32();
        for (byte b : body) {
            crc.update(b);
        }
        return crc.getValue();
    }

    private static void store(long checksum, int length) {
        STORE.lock();
        try {
            for (int i = 0; i < 200; i++) {
                SUMS.merge(checksum + i & 1023, length, Integer::sum);
            }
        } finally {
            STORE.unlock();
        }
    }
}
