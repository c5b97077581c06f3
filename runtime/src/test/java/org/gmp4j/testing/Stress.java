// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContextProvider;

/** A test whose threads race: runs as often as {@code -Dgmp.stress.repeat} says, once by default. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Tag("stress")
@TestTemplate
@ExtendWith(Stress.Repeat.class)
public @interface Stress {
    /** How often. */
    int REPEAT = Integer.getInteger("gmp.stress.repeat", 1);

    /** Repeats. */
    final class Repeat implements TestTemplateInvocationContextProvider {
        @Override
        public boolean supportsTestTemplate(ExtensionContext context) {
            return true;
        }

        @Override
        public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(ExtensionContext context) {
            return IntStream.rangeClosed(1, REPEAT).mapToObj(i -> new TestTemplateInvocationContext() {
                @Override
                public String getDisplayName(int invocation) {
                    return context.getRequiredTestMethod().getName() + " " + i + " of " + REPEAT;
                }
            });
        }
    }
}
