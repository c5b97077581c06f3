// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.jmh;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import org.gmp4j.Gmp;
import org.gmp4j.memory.Mcache;
import org.gmp4j.sync.WaitGroup;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Off-heap memory taken and given back, of one goroutine a P: {@code Mcache} beside the JDK's arenas, Netty's pool, the C library's
 * allocator and, where {@code libjemalloc.so.2} is installed, jemalloc, which needs the variable {@code
 * GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384} to be loaded so late. One byte of each block is written. The arenas' blocks are
 * zeroed, as they promise; those of the others are not. For a claim run all in one call; with {@code -prof gc} for garbage.
 */
public class MemoryBench extends GmpBench {
    private static final int N = 100_000;
    private static final int LIVE = 64;

    /** How many Ps, and goroutines. */
    @Param({"1", "2"})
    int procs;

    /** Bytes of a block. */
    @Param({"64", "1024", "16384"})
    int size;

    /** Whose. */
    @Param({"mcache", "confined", "shared", "auto", "netty", "malloc", "jemalloc"})
    String allocator;

    private Taken taken;
    private Mcache mcache;

    /** Takes and gives back. A block is what the allocator has for one. */
    private interface Taken {
        Object take(int size);

        void give(Object block);
    }

    private record OfMcache(Mcache memory) implements Taken {
        @Override
        public Object take(int size) {
            MemorySegment s = memory.allocate(size);
            s.set(JAVA_BYTE, 0, (byte) 1);
            return s;
        }

        @Override
        public void give(Object block) {
            memory.free((MemorySegment) block);
        }
    }

    /** An arena for each block, which is how one gives back a single one. */
    private record OfArena(boolean shared) implements Taken {
        @Override
        public Object take(int size) {
            Arena a = shared ? Arena.ofShared() : Arena.ofConfined();
            a.allocate(size).set(JAVA_BYTE, 0, (byte) 1);
            return a;
        }

        @Override
        public void give(Object block) {
            ((Arena) block).close();
        }
    }

    /** The collector gives them back. */
    private record OfAuto() implements Taken {
        @Override
        public Object take(int size) {
            MemorySegment s = Arena.ofAuto().allocate(size);
            s.set(JAVA_BYTE, 0, (byte) 1);
            return s;
        }

        @Override
        public void give(Object block) {
            // Dropped.
        }
    }

    private record OfNetty(PooledByteBufAllocator pool) implements Taken {
        @Override
        public Object take(int size) {
            ByteBuf b = pool.directBuffer(size, size);
            b.setByte(0, 1);
            return b;
        }

        @Override
        public void give(Object block) {
            boolean _ = ((ByteBuf) block).release();
        }
    }

    private record OfC(MethodHandle malloc, MethodHandle free) implements Taken {
        @Override
        public Object take(int size) {
            try {
                MemorySegment s = reinterpreted((MemorySegment) malloc.invokeExact((long) size), size);
                s.set(JAVA_BYTE, 0, (byte) 1);
                return s;
            } catch (Throwable t) {
                throw new IllegalStateException(t);
            }
        }

        @SuppressWarnings("restricted")
        private static MemorySegment reinterpreted(MemorySegment s, long size) {
            return s.reinterpret(size);
        }

        @Override
        public void give(Object block) {
            try {
                free.invokeExact((MemorySegment) block);
            } catch (Throwable t) {
                throw new IllegalStateException(t);
            }
        }
    }

    @SuppressWarnings("restricted")
    private static Taken ofC(SymbolLookup in) {
        Linker linker = Linker.nativeLinker();
        return new OfC(linker.downcallHandle(in.findOrThrow("malloc"), FunctionDescriptor.of(ADDRESS, JAVA_LONG)),
                linker.downcallHandle(in.findOrThrow("free"), FunctionDescriptor.ofVoid(ADDRESS)));
    }

    @SuppressWarnings("restricted")
    private static SymbolLookup jemalloc() {
        return SymbolLookup.libraryLookup("libjemalloc.so.2", Arena.global());
    }

    @Override
    Gmp.Builder settings() {
        return Gmp.builder().procs(procs);
    }

    /** Makes the allocator. */
    @Setup
    public void choose() {
        taken = switch (allocator) {
            case "mcache" -> {
                mcache = Mcache.create();
                yield new OfMcache(mcache);
            }
            case "confined" -> new OfArena(false);
            case "shared" -> new OfArena(true);
            case "auto" -> new OfAuto();
            case "netty" -> new OfNetty(new PooledByteBufAllocator(true));
            case "malloc" -> ofC(Linker.nativeLinker().defaultLookup());
            case "jemalloc" -> ofC(jemalloc());
            default -> throw new IllegalArgumentException("allocator " + allocator);
        };
    }

    /** Ends it. */
    @TearDown
    public void end() {
        if (mcache != null) {
            mcache.close();
        }
    }

    /** One block, given back at once. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void one() {
        each(() -> {
            Taken t = taken;
            for (int i = 0; i < N; i++) {
                t.give(t.take(size));
            }
        });
    }

    /** With 64 blocks live, given back in their order: the oldest first. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void sixtyFour() {
        each(() -> {
            Taken t = taken;
            Object[] live = new Object[LIVE];
            for (int i = 0; i < N; i++) {
                int at = i % LIVE;
                if (live[at] != null) {
                    t.give(live[at]);
                }
                live[at] = t.take(size);
            }
            for (Object o : live) {
                t.give(o);
            }
        });
    }

    private void each(Runnable body) {
        gmp.run(() -> {
            WaitGroup wg = new WaitGroup();
            for (int i = 0; i < procs; i++) {
                wg.go(body);
            }
            wg.await();
        });
    }
}
