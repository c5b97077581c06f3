// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;

import jdk.internal.access.SharedSecrets;
import jdk.internal.foreign.abi.ABIDescriptor;
import jdk.internal.foreign.abi.NativeEntryPoint;
import jdk.internal.foreign.abi.StubLocations;
import jdk.internal.foreign.abi.VMStorage;
import jdk.internal.foreign.abi.x64.X86_64Architecture;
import jdk.internal.foreign.abi.x64.X86_64Architecture.Regs;
import jdk.internal.foreign.abi.x64.X86_64Architecture.StorageType;
import jdk.internal.misc.Unsafe;
import org.gmp4j.ffi.Native;

/**
 * Calls C functions, finds them and accesses memory for the bindings, by the JDK's internal classes. The JDK's linker makes a handle of two
 * parts: a leaf, which is HotSpot's stub for a list of registers, and a generated class that converts arguments and results for the leaf.
 * {@code ffi.Call} passes six longs and gets one, which need no conversion, so this class makes the leaf alone. Likewise a lookup of a
 * symbol and a read of memory end in methods that take and return addresses. For the linker, the lookups and the segments in front of them
 * the JDK would load and generate some 250 classes, for which each start would pay.
 *
 * <p>{@link Native#given} initialises this class. HotSpot does not check the registers, so a leaf is made only where its registers
 * are known: by the versions of {@link JdkVersion} for x86-64. Elsewhere, and with {@code -Dgmp.calls=linker}, the bindings use the JDK's
 * public classes.
 */
final class LeafCalls extends Native {
    private static final String[] PACKAGES = {"jdk.internal.access", "jdk.internal.foreign.abi", "jdk.internal.foreign.abi.x64",
        "jdk.internal.loader", "jdk.internal.misc"};

    static {
        boolean known = "amd64".equals(System.getProperty("os.arch"));
        if (known && !"linker".equals(System.getProperty("gmp.calls")) && opened()) {
            give();
        }
    }

    private final MethodHandle waiting;
    private final MethodHandle critical;
    private final Unsafe unsafe = Unsafe.getUnsafe();

    private LeafCalls(ABIDescriptor abi) {
        waiting = X64.leaf(abi, true);
        critical = X64.leaf(abi, false);
    }

    /**
     * Opens the packages to the runtime's module, for good. Returns false if the runtime has no access to the JDK, or does not know its
     * version.
     */
    private static boolean opened() {
        boolean all = true;
        for (String name : PACKAGES) {
            all &= JdkThreads.openToRuntime(name);
        }
        return all;
    }

    private static void give() {
        try {
            LeafCalls made = new LeafCalls(X64.abi());
            made.tryAll();
            use(made);
        } catch (RuntimeException | LinkageError e) {
            return; // This build of the JDK differs, so the linker makes the handles.
        }
    }

    /** Links each method of the JDK that the bindings will call, because a build that lacks one is to fail here. */
    private void tryAll() {
        long block = unsafe.allocateMemory(Long.BYTES);
        clear(block, Long.BYTES);
        setLong(block, getLong(block) + getInt(block));
        unsafe.freeMemory(block);
        long _ = find(LeafCalls.class.getClassLoader(), "main");
    }

    @Override
    protected MethodHandle waiting() {
        return waiting;
    }

    @Override
    protected MethodHandle critical() {
        return critical;
    }

    @Override
    protected long find(ClassLoader loader, String name) {
        return SharedSecrets.getJavaLangAccess().nativeLibrariesFor(loader).find(name);
    }

    @Override
    protected int getInt(long addr) {
        return unsafe.getIntUnaligned(null, addr);
    }

    @Override
    protected long getLong(long addr) {
        return unsafe.getLongUnaligned(null, addr);
    }

    @Override
    protected void setLong(long addr, long v) {
        unsafe.putLongUnaligned(null, addr, v);
    }

    @Override
    protected void clear(long addr, long bytes) {
        unsafe.setMemory(addr, bytes, (byte) 0);
    }

    /** The leaves for x86-64. A class of its own, because a JDK for another processor may lack the classes of this one. */
    private static final class X64 {
        private static final MethodType TYPE = MethodType.methodType(long.class, long.class, long.class, long.class, long.class, long.class,
                long.class, long.class);
        private static final int STACK_ALIGNMENT = 16;
        private static final VMStorage[] NONE = {};

        /**
         * Returns the calling convention of System V, without its vector registers and those of the x87, which a leaf does not use. The
         * linker has the whole convention, but its class loads 50 others, and is initialised with them.
         */
        static ABIDescriptor abi() {
            VMStorage[][] inputs = {{Regs.rdi, Regs.rsi, Regs.rdx, Regs.rcx, Regs.r8, Regs.r9, Regs.rax}, NONE};
            VMStorage[][] outputs = {{Regs.rax, Regs.rdx}, NONE, NONE};
            VMStorage[][] volatiles = {{Regs.r10, Regs.r11}, NONE};
            return new ABIDescriptor(X86_64Architecture.INSTANCE, inputs, outputs, volatiles, STACK_ALIGNMENT, 0, Regs.r10, Regs.r11,
                    StubLocations.TARGET_ADDRESS.storage(StorageType.PLACEHOLDER),
                    StubLocations.RETURN_BUFFER.storage(StorageType.PLACEHOLDER),
                    StubLocations.CAPTURED_STATE_BUFFER.storage(StorageType.PLACEHOLDER));
        }

        /**
         * Returns a leaf that takes the function's address and six arguments.
         *
         * @param transition whether the thread's state changes for the call, so that the JVM need not wait for the function at a safepoint
         */
        static MethodHandle leaf(ABIDescriptor abi, boolean transition) {
            VMStorage[] arguments = {abi.targetAddrStorage(), Regs.rdi, Regs.rsi, Regs.rdx, Regs.rcx, Regs.r8, Regs.r9};
            VMStorage[] result = {Regs.rax};
            return SharedSecrets.getJavaLangInvokeAccess()
                    .nativeMethodHandle(NativeEntryPoint.make(abi, arguments, result, TYPE, false, 0, transition, false));
        }
    }
}
