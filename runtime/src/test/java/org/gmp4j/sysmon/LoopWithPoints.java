// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.function.LongUnaryOperator;

import org.gmp4j.agent.PointLoader;
import org.gmp4j.agent.Points;

/** A loop of which tests run copies that have preemption points. */
public final class LoopWithPoints implements LongUnaryOperator {
    @Override
    public long applyAsLong(long n) {
        long sum = 0;
        for (long i = 0; i < n; i++) {
            sum += i ^ n;
        }
        return sum;
    }

    /** Returns a copy whose point is linked. */
    static LongUnaryOperator copy() throws ReflectiveOperationException {
        LongUnaryOperator loop = (LongUnaryOperator) PointLoader.ofCopy(LoopWithPoints.class).loadClass(LoopWithPoints.class.getName())
                .getConstructor().newInstance();
        assertTrue(loop.applyAsLong(1) != 0 && Points.any(), "a point has been linked");
        return loop;
    }
}
