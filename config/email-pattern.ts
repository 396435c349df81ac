const localPart = String.raw`[^@<>"(),:;\\[\]\p{C}\p{Z}]{1,64}`;
const label = String.raw`[^@<>"(),:;\\[\]\p{C}\p{Z}.]+`;

/** An e-mail address with one `@`, without white space, invisible characters and a display name. */
export const emailPattern = new RegExp(`^${localPart}@${label}(?:\\.${label})*$`, 'u');
export const emailCharactersMax = 254;
