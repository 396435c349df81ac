import { describeIsolation } from './suite.ts';

describeIsolation('PGlite');
