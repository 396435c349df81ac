import { type ParseErrorCode, printParseErrorCode } from 'jsonc-parser';

/** Texts by the name of the parser's error. */
const texts: Readonly<Record<string, string>> = {
  PropertyNameExpected: 'expected a key in double quotes',
  ColonExpected: 'expected a colon',
  CommaExpected: 'expected a comma',
  CloseBraceExpected: 'expected a comma or a closing brace',
  CloseBracketExpected: 'expected a comma or a closing bracket',
  EndOfFileExpected: 'more text after the end of the JSON',
  UnexpectedEndOfString: 'a string that is not closed',
  InvalidUnicode: 'a string with a wrong escape',
  InvalidEscapeCharacter: 'a string with a wrong escape',
  InvalidCharacter: 'a string with a raw control character',
};

/** Describes an error of jsonc-parser `at` this character of a JSON text. The description contains no part of the text. */
export function jsonSyntaxText(code: ParseErrorCode, at: number, length: number): string {
  if (at >= length) return 'the text ends too early';
  return texts[printParseErrorCode(code)] ?? 'expected a value or a key in double quotes';
}
