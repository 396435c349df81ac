import type { Detector } from './detector.ts';

/** Given names that mark two capitalised words as a person. The most frequent ones of a dozen countries. */
const givenNames: ReadonlySet<string> = new Set(
  `Aaron Abdul Adam Adrian Aisha Alan Albert Alejandro Alessandro Alex Alexander Alexandra Alexis Alice Alicia Amanda Amber Amelia Amir Amy Ana
  Anders André Andrea Andreas Andrew Angela Anita Anja Ann Anna Anne Anthony Antonio Anton Arjun Arthur Ashley Astrid Austin Barbara Beatriz
  Benjamin Bernd Beth Björn Brandon Brenda Brian Bruce Camille Carla Carlos Carmen Carol Caroline Catherine Charles Charlotte Chen Chiara
  Chloe Chris Christian Christina Christine Christoph Christopher Claire Clara Claudia Cynthia Daniel Daniela David Deborah Dennis Diana Diego
  Dmitri Donald Donna Dorothy Douglas Edward Elena Eli Elias Elisabeth Elizabeth Ella Emil Emily Emma Eric Erik Ethan Eva Evelyn Fatima
  Felipe Felix Fernando Filip Florian Francesca Francesco Francisco Frank Franz Gabriel Gary George Gerald Giovanni Giulia Giuseppe Gloria
  Grace Gregory Guillaume Hannah Hans Harold Harry Hassan Heather Heidi Helen Helena Henry Hiroshi Holly Hugo Ian Igor Ingrid Irene Isabel
  Isabella Ivan Jack Jacob James Jan Jane Janet Janice Jason Javier Jean Jeffrey Jennifer Jens Jeremy Jessica Joan João Joe Johan Johanna
  John Jonas Jonathan Jorge José Joseph Joshua Juan Judith Julia Julian Julie Jürgen Justin Kamal Karen Karin Karl Katarzyna Kate Katharina
  Katherine Kathleen Keith Kelly Kenneth Kevin Kimberly Klaus Krzysztof Kumar Kyle Lars Laura Lauren Lena Leon Leonardo Linda Lisa Louis
  Louise Luca Lucas Lucia Lucy Luis Luke Maciej Magdalena Manuel Marc Marco Margaret Maria María Marie Mario Marion Mark Markus Marta Martha
  Martin Mary Mathieu Matthew Matthias Maximilian Mei Melissa Michael Michel Michelle Miguel Mohamed Mohammed Monica Monika Muhammad Nancy
  Natalia Natalie Nathan Nicholas Nicolas Nicole Nina Noah Oliver Olivia Omar Oscar Pablo Pamela Paolo Patricia Patrick Paul Paula Pedro
  Peter Petra Philip Philippe Pierre Piotr Priya Rachel Rafael Rahul Raj Ralph Ramón Raymond Rebecca Richard Robert Roberto Rodrigo Roger
  Ronald Rosa Roy Russell Ruth Ryan Sabine Samantha Samuel Sandra Sanjay Sara Sarah Scott Sean Sebastian Sergei Sergio Sharon Shirley Simon
  Sofia Sophia Sophie Stefan Stephanie Stephen Steven Susan Susanne Sven Tanya Teresa Theresa Thomas Tiago Timothy Tom Tyler Ursula Valentina
  Vanessa Victor Victoria Vincent Virginia Vladimir Walter Wei Wendy William Wolfgang Xavier Yasmin Yuki Yusuf Zachary Zoe`.split(
    /\s+/,
  ),
);

const word = String.raw`\p{Lu}[\p{L}'’-]{1,30}`;
const particle = `(?:(?:van|von|de|da|do|dos|del|della|di|der|den|la|le|bin|al|el) ){0,2}`;
const further = String.raw`(?: ${particle}(?:${word}|\p{Lu}\.)){0,3}`;
const name = String.raw`(?<value>(?:\p{Lu}\. ?){0,2}${word}${further})`;
const pattern = (text: string, flags = 'dgu') => new RegExp(text, flags);

/** A phrase begins no word in the middle, such as `name:` in `className:`. */
const start = String.raw`(?<![\p{L}\d_])`;
/** A space, a colon or a comma separates a phrase from a name. `customerId` has none of them. */
const gap = '(?:(?<=[:,]) {0,2}| {1,2})';
/** Words before `name:` that say whose name or which part of it follows, so that one word is a name. */
const ofPerson = `(?:[Ff]irst|[Ll]ast|[Mm]iddle|[Mm]aiden|[Gg]iven|[Ff]amily|[Ll]egal|[Cc]ustomer(?:['’]s)?|[Pp]atient(?:['’]s)?|[Cc]lient|[Cc]ontact|[Ee]mployee|[Gg]uest|[Hh]is|[Hh]er|[Tt]heir) [Nn]ame:|(?:[Ff]irst|[Ll]ast|[Ss]ur)name:|(?:[Vv]or|[Nn]ach|[Ff]amilien|[Gg]eburts|[Kk]unden|[Pp]atienten)name:`;
/** Matches the types of a field in code. */
const noType = String.raw`(?!(?:String|Text|Str|Char|Varchar|Option|Optional|Nullable)(?!\p{L}))`;
/** Matches words behind "customer" or "patient" that are no names, such as "Customer Service". */
const noPerson = String.raw`(?:Ids?|Names?|Numbers?|Services?|Support|Success|Care|Relations(?:hips?)?|Experience|Satisfaction|Portal|Data|Records?|Accounts?|Journey|Reviews?|Feedback|Safety|Management|Managers?|Center|Centre)(?!\p{L})`;

/** Words that follow a given name without being a name. */
const notSurnames =
  /^(?:And|Or|The|In|On|At|Is|Was|Has|Will|Street|St|Avenue|Road|Airport|University|Institute|Day|Inc|Ltd|GmbH)$/;

/** Names of persons. Without a title or a phrase before it, a name counts only if it begins with a frequent given name. */
export const persons: readonly Detector[] = [
  {
    category: 'NAME',
    pattern: pattern(
      String.raw`(?<!\p{L})(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Sir|Madam|Herr|Frau|Mme|Mlle|Monsieur|Madame|Señora?|Sra?|Signora?|Dott)\.? ${name}`,
    ),
  },
  {
    category: 'NAME',
    pattern: pattern(
      `${start}(?:[Mm]y name is|[Nn]ame is|Name:|[Ff]ull name:|I am called|[Ss]igned,|[Ii]ch hei(?:ß|ss)e|[Mm]ein Name ist|[Jj]e m['’]appelle|[Mm]e llamo|[Mm]i chiamo)${gap}${name}`,
    ),
    mark: { pattern: /ame(?::| is)|am called|igned,|ei(?:ß|ss)e|pelle|llamo|iamo/g, before: 16, after: 320 },
  },
  // In code and YAML, one word behind "name:" is a type or a title.
  {
    category: 'NAME',
    pattern: pattern(
      `${start}name: {0,2}(?<value>${word}(?: ${particle}(?:${word}|\\p{Lu}\\.)){1,3}|(?:\\p{Lu}\\. ?){1,2}${word}${further})`,
    ),
  },
  {
    category: 'NAME',
    pattern: pattern(`${start}(?:${ofPerson}) {0,2}${noType}${name}`),
    mark: { pattern: /[Nn]ame:/g, before: 16, after: 320 },
  },
  { category: 'NAME', pattern: pattern(`${start}(?:[Pp]atient|[Cc]ustomer) {1,2}(?!\\p{Lu}{2}|${noPerson})${name}`) },
  // Forms have names in capitals, unlike abbreviations such as "ID".
  {
    category: 'NAME',
    pattern: pattern(
      `${start}(?:[Pp]atient|[Cc]ustomer): {0,2}(?!(?:\\p{Lu}{2}|API|URL|URI|UUID|STRING)(?!\\p{L})|${noPerson})${noType}${name}`,
    ),
  },
  {
    category: 'NAME',
    pattern: pattern(String.raw`(?<![\p{L}'’-])${word}(?: ${particle}(?:${word}|\p{Lu}\.)){1,3}(?!\p{L})`),
    isValid: (value) => {
      const [first = '', second = ''] = value.split(' ');
      return givenNames.has(first) && !notSurnames.test(second);
    },
    mark: {
      pattern: pattern(` \\p{Lu}[\\p{L}.'’-](?<=\\p{Lu}[\\p{L}'’-]{1,30} ${particle}\\p{Lu}.)`, 'gu'),
      before: 80,
      after: 240,
    },
  },
];

const streetWords =
  'Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Place|Pl|Square|Sq|Terrace|Ter|Way|Parkway|Pkwy|Highway|Hwy|Close|Crescent|Mews|Row|Circle|Cir|Trail|Walk';
const unit = String.raw`(?:,? (?:Apt|Apartment|Suite|Ste|Unit|Flat|Floor|#)\.? ?[\p{L}\d-]{1,6})?`;
const town = String.raw`(?:,? ${word}(?: ${word}){0,2}(?:,? [A-Z]{2} \d{5}(?:-\d{4})?|,? [A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}))?`;
const code = String.raw`(?:,? \d{4,5} ${word}(?:[ -]${word}){0,2})?`;

/** Postal addresses of Western Europe and North America: a street with a number, a post box, or a post code of the UK. */
export const addresses: readonly Detector[] = [
  {
    category: 'LOCATION_ADDRESS',
    pattern: pattern(
      String.raw`(?<![\p{L}\d])\d{1,6}[A-Za-z]? (?:(?:${word}|\d{1,3}(?:st|nd|rd|th)|[NSEW]\.?) ){1,4}(?:${streetWords})\b\.?${unit}${town}`,
    ),
    digits: 1,
  },
  {
    category: 'LOCATION_ADDRESS',
    pattern: pattern(
      String.raw`(?<![\p{L}-])(?:\p{Lu}[\p{L}-]{1,30}(?:stra(?:ß|ss)e|str\.|weg|platz|allee|gasse|ring|damm|ufer|straat|laan|gracht)|(?:Am|An der|Auf dem|Im) ${word}) \d{1,4} ?[a-z]?(?![\p{L}\d])${code}`,
    ),
    digits: 1,
    mark: { pattern: / \d(?<=[\p{L}.'’-] \d)/gu, before: 80, after: 224 },
  },
  {
    category: 'LOCATION_ADDRESS',
    pattern: pattern(
      String.raw`(?<![\p{L}\d])\d{1,4}(?: bis| ter)?,? (?:rue|avenue|boulevard|place|chemin|allée|impasse|quai|cours) (?:(?:de la|de l['’]|du|des|de|la|le|d['’]) ?){0,1}${word}(?:[ -](?:de |du |la )?${word}){0,3}${code}`,
      'dgu',
    ),
    digits: 1,
  },
  {
    category: 'LOCATION_ADDRESS',
    pattern: pattern(
      String.raw`(?<!\p{L})(?:Calle|Avenida|Avda\.?|Paseo|Plaza|Via|Viale|Piazza|Corso|Largo|Rua|Travessa) (?:(?:de la|de los|del|de|della|dei|di|da|do|dos|la) ){0,1}${word}(?: (?:de |del |di )?${word}){0,3},? \d{1,4}(?!\d)${code}`,
    ),
    digits: 1,
  },
  { category: 'LOCATION_ADDRESS', pattern: /(?<!\p{L})P\.? ?O\.? Box \d{1,6}(?!\d)/dgiu, digits: 1 },
  {
    category: 'LOCATION_ADDRESS',
    pattern: /(?<![\p{L}\d])(?:[A-Z]{1,2}\d[A-Z\d]?) \d[ABD-HJLNP-UW-Z]{2}(?![\p{L}\d])/dgu,
    digits: 2,
  },
];
