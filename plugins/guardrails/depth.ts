/** Levels of values that checks read. No format has deeper values. */
export const depthMax = 200;

/** The error of a value that is nested too deeply to be read: checks that read text cannot run. */
export function tooDeep(): Error {
  return new Error(`The body is nested in more than ${depthMax} levels`);
}
