// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.resp;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.List;

import org.gmp4j.bench.service.Proc;

/**
 * What redis-benchmark told of a run, and what the server used for it.
 *
 * @param perSecond requests a second
 * @param p50 nanoseconds
 * @param p99 nanoseconds
 * @param cpu nanoseconds of CPU that the server used for each request
 * @param others what others had of the server's CPU meanwhile, in percent: processes, interrupts, the hypervisor
 */
record RespFigures(double perSecond, double p50, double p99, double cpu, double others) {
    private static final double NANOS_IN_MILLI = 1e6;
    private static final int PER_SECOND = 1; // columns of its CSV
    private static final int P50 = 4;
    private static final int P99 = 6;
    private static final int COLUMNS = 8;

    /** Runs it on the last of some CPUs; the server has the first. */
    static RespFigures measure(String benchmark, RespProcess server, BitSet cpus, RespLoad load, int connections,
            long requests) throws IOException, InterruptedException {
        int cpu = cpus.nextSetBit(0);
        double busy = Proc.busy(cpu);
        long start = System.nanoTime();
        Proc.Use before = Proc.use(server.pid());
        ProcessBuilder b = new ProcessBuilder(benchmark, "-h", "127.0.0.1", "-p", "" + server.port(), "-c",
                "" + connections, "-P", "" + load.pipeline(), "-n", "" + requests, "-t", load.test(), "--precision", "3",
                "--csv").redirectError(Redirect.INHERIT);
        Process p = Proc.start(b, cpus.length() - 1);
        String out;
        try {
            out = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (p.waitFor() != 0) {
                throw new IOException("redis-benchmark failed with exit code " + p.exitValue());
            }
        } finally {
            p.destroyForcibly();
        }
        Proc.Use use = Proc.use(server.pid()).since(before);
        double used = use.user() + use.system();
        double others = Math.max(0, Proc.busy(cpu) - busy - used);
        return parse(out, 1e9 * used / requests, 100 * others * 1e9 / (System.nanoTime() - start));
    }

    /** Parses the last line of its CSV. */
    static RespFigures parse(String csv, double cpu, double others) throws IOException {
        List<String> lines = csv.lines().toList();
        String[] v = lines.isEmpty() ? new String[0] : lines.getLast().replace("\"", "").split(",");
        try {
            if (v.length == COLUMNS) {
                return new RespFigures(Double.parseDouble(v[PER_SECOND]), NANOS_IN_MILLI * Double.parseDouble(v[P50]),
                        NANOS_IN_MILLI * Double.parseDouble(v[P99]), cpu, others);
            }
        } catch (NumberFormatException e) {
            throw new IOException("redis-benchmark said " + csv.strip(), e);
        }
        throw new IOException("redis-benchmark said " + csv.strip());
    }
}
