// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.ProtectionDomain;

/** An agent that changes what {@link DemandLoops.Work#changedBy} returns, as that class loads and whenever it is transformed again. */
public final class OtherAgent implements ClassFileTransformer {
    private static Instrumentation instrumentation;

    private OtherAgent() {
    }

    /** By the JVM. */
    public static void premain(String args, Instrumentation its) {
        instrumentation = its;
        its.addTransformer(new OtherAgent(), true);
    }

    /** Transforms a class again. */
    static void again(Class<?> c) throws UnmodifiableClassException {
        instrumentation.retransformClasses(c);
    }

    @Override
    public byte[] transform(Module module, ClassLoader loader, String name, Class<?> loaded, ProtectionDomain domain, byte[] classFile) {
        if (!"org/gmp4j/sysmon/DemandLoops$Work".equals(name)) {
            return null;
        }
        ClassFile cf = ClassFile.of();
        return cf.transformClass(cf.parse(classFile), ClassTransform.transformingMethodBodies(
                m -> m.methodName().equalsString("changedBy"), (code, e) -> {
                    if (e instanceof java.lang.classfile.instruction.ConstantInstruction) {
                        code.loadConstant("another agent");
                    } else {
                        code.with(e);
                    }
                }));
    }
}
