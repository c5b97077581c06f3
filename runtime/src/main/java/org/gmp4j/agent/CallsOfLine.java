// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeElement;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.LineNumber;
import java.util.ArrayList;
import java.util.List;

/** Reads from a class file which methods a source line calls. */
public final class CallsOfLine {
    private CallsOfLine() {
    }

    /**
     * A method that is called.
     *
     * @param owner the name of the class in the call instruction, as {@link Class#forName(String)} takes it
     */
    public record Called(String owner, String method) {
    }

    /**
     * Returns the methods that a line calls, in order.
     *
     * @param method the name of the method that has the line
     * @return an empty list when there is no such line, or the class file is not available
     */
    public static List<Called> of(Class<?> c, String method, int line) {
        String name = c.getName();
        List<Called> calls = new ArrayList<>();
        try (InputStream in = c.getResourceAsStream(name.substring(name.lastIndexOf('.') + 1) + ".class")) {
            if (in == null) {
                return calls;
            }
            for (MethodModel m : ClassFile.of().parse(in.readAllBytes()).methods()) {
                if (m.methodName().equalsString(method) && m.code().isPresent()) {
                    add(calls, m.code().get(), line);
                }
            }
            return calls;
        } catch (IOException | RuntimeException | LinkageError e) {
            return List.of(); // A loader, such as one of a stopped application, may throw any exception, and return any bytes.
        }
    }

    private static void add(List<Called> calls, Iterable<CodeElement> code, int line) {
        int now = 0;
        for (CodeElement e : code) {
            if (e instanceof LineNumber n) {
                now = n.line();
            } else if (now == line && e instanceof InvokeInstruction i) {
                boolean _ = calls.add(new Called(i.owner().asInternalName().replace('/', '.'), i.name().stringValue()));
            }
        }
    }
}
