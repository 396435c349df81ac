// Preloaded by the processes of vitest and of the tests. They end soon, so compiling code a second time to make it faster costs them more CPU
// than it saves: two seconds for the code of the embedded database, and a sixth of the instructions of a start of the product.
const { setFlagsFromString } = require('node:v8');
setFlagsFromString('--liftoff-only');
// Functions that are called very often are still optimised; the default is 3,000 calls.
setFlagsFromString('--invocation-count-for-turbofan=50000');
