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
import org.gmp4j.ffi.NativeHandles;

/**
 * Makes the handles by which {@code ffi.Call} calls C functions. The JDK's linker makes a handle of two parts: a leaf, which is HotSpot's
 * stub for a list of registers, and a generated class that converts arguments and results for the leaf. Call passes six longs and gets one,
 * which need no conversion, so this class makes the leaf alone. For the conversion the linker would load and generate some 200 classes, for
 * which each start would pay.
 *
 * <p>Call initialises this class before its first call. HotSpot does not check the registers, so a leaf is made only where its registers
 * are known: by JDK 25 for x86-64. Elsewhere, and with {@code -Dgmp.calls=linker}, the linker makes the handles.
 */
final class LeafCalls {
    private static final String[] PACKAGES = {"jdk.internal.access", "jdk.internal.foreign.abi", "jdk.internal.foreign.abi.x64"};

    static {
        boolean known = JdkThreads.VERSION == JdkVersion.JDK_25 && "amd64".equals(System.getProperty("os.arch"));
        if (known && !"linker".equals(System.getProperty("gmp.calls")) && opened()) {
            give();
        }
    }

    private LeafCalls() {
    }

    /** Opens the packages to the runtime's module, for good. Returns false if the runtime has no access to the JDK. */
    private static boolean opened() {
        boolean all = true;
        for (String name : PACKAGES) {
            all &= JdkThreads.openToRuntime(name);
        }
        return all;
    }

    private static void give() {
        try {
            ABIDescriptor abi = X64.abi();
            NativeHandles.use(X64.leaf(abi, true), X64.leaf(abi, false));
        } catch (RuntimeException | LinkageError e) {
            return; // This build of the JDK differs, so the linker makes the handles.
        }
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
