// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import static org.gmp4j.net.Io.LOOPBACK;
import static org.gmp4j.net.Io.io;
import static org.gmp4j.net.Io.text;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import javax.management.JMException;
import javax.management.ObjectName;

import com.sun.management.UnixOperatingSystemMXBean;
import org.gmp4j.Go;
import org.gmp4j.struct.OffHeap;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.TestGmp;

/** Connections that are all made in a burst, used once, and then wait: see {@code IdleConnsTest}. */
final class IdleConnsProgram {
    private static final int FEW = 100;
    /** The process's own descriptors. */
    private static final int OTHERS = 500;
    /** Where all ends read to: what user code holds is not counted. */
    private static final MemorySegment TO = MemorySegment.ofArray(new byte[1]);
    private static final MemorySegment FROM = MemorySegment.ofArray(new byte[1]);

    private IdleConnsProgram() {
    }

    /** Bytes in use. Stacks are not counted: how large they are depends on what of their code is compiled, and how. */
    private static long used() throws JMException {
        System.gc();
        long stacks = ((String) ManagementFactory.getPlatformMBeanServer().invoke(
                new ObjectName("com.sun.management:type=DiagnosticCommand"), "gcClassHistogram", new Object[1],
                new String[] {String[].class.getName()})).lines().filter(line -> line.contains("StackChunk"))
                .mapToLong(line -> Long.parseLong(line.strip().split(" +")[2])).sum();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() - stacks + OffHeap.taken();
    }

    /** Makes so many; each end has a goroutine, which waits for more when this returns. */
    private static List<TcpConn> connect(TcpListener l, int pairs) {
        List<TcpConn> all = new ArrayList<>(pairs);
        WaitGroup used = new WaitGroup();
        used.add(pairs);
        for (int i = 0; i < pairs; i++) {
            Go.go(io(() -> {
                TcpConn c = TcpConn.dial(text(l));
                synchronized (all) {
                    all.add(c);
                }
                c.write(FROM);
                if (c.read(TO) == 1) {
                    used.done();
                }
                ends(c);
            }));
        }
        used.await();
        TestGmp.awaitOthers();
        return all;
    }

    private static void ends(TcpConn c) {
        try (c) {
            if (c.read(TO) == 1) {
                throw new IOException("nobody wrote it");
            }
        } catch (ClosedException e) {
            return;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void echo(TcpConn c) {
        try (c) {
            while (c.read(TO) == 1) {
                c.write(FROM);
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** The argument: how many connections, of which this process has both ends; fewer where too few descriptors are allowed. */
    public static void main(String[] args) throws IOException, JMException {
        long files = ((UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getMaxFileDescriptorCount();
        int pairs = (int) Math.min(Integer.parseInt(args[0]), (files - OTHERS) / 2);
        TcpListener l = TcpListener.listen(LOOPBACK);
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.go(io(() -> l.serve(IdleConnsProgram::echo)));
            List<TcpConn> few = gmp.call(() -> connect(l, FEW));
            long before = used();
            List<TcpConn> all = gmp.call(() -> connect(l, pairs));
            int ms = gmp.scheduler().mcount();
            long bytes = used() - before;
            System.err.println(pairs + " connections, " + bytes / (2 * pairs) + " bytes an end, " + ms + " Ms");
            System.out.println(ms < 20 ? "few Ms" : ms + " Ms");
            System.out.println(bytes <= 2 * 2048L * pairs ? "little memory" : bytes / (2 * pairs) + " bytes an end");
            all.addAll(few);
            gmp.run(() -> {
                all.forEach(TcpConn::close);
                l.close();
                while (Go.numGoroutine() > 1) {
                    Go.gosched();
                }
            });
            gmp.check();
        }
        System.out.println("closed");
    }
}
