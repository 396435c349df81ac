/**
 * Returns the facts of a text in their order: numbers, negations, words that reverse a meaning, names, quoted texts, code, signs and
 * identifiers. Two prompts with different facts are never served from one entry, however similar their embeddings are. A fact that
 * is recognised without need costs a hit; one that is missed can cost a wrong reply, so that doubtful words count as facts.
 */
export function contentFacts(text: string): string[] {
  const facts: string[] = [];
  let startsSentence = true;
  for (const [token] of text.normalize('NFKC').replace(invisible, '').matchAll(tokens)) {
    const enclosed = enclosedFact(token);
    if (enclosed !== null) facts.push(enclosed);
    else for (const word of token.split(/(?<![-–—/])[-–—/]+(?=\p{L})/u)) startsSentence = addWord(word, startsSentence, facts);
    if (/[.!?:…。]['")\]]*$/.test(token)) startsSentence = true;
  }
  return facts;
}

/** Characters without width, which would hide a word. */
const invisible = /[\u00ad\u200b-\u200f\u2060\ufeff]/g;

/** Code, quoted texts, and words between spaces. Lengths are bounded, so that unpaired quotes cost linear time. */
const tokens =
  /```[\s\S]{0,4000}?```|`[^`]{1,500}`|"[^"]{1,500}"|“[^”]{1,500}”|«[^»]{1,500}»|„[^“”]{1,500}[“”]|(?<![\p{L}\p{N}])['‘][^'’\n]{1,200}['’](?![\p{L}\p{N}])|\S+/gu;

function enclosedFact(token: string): string | null {
  if (token.startsWith('`') && token.length > 1) return `code ${token.replace(/^`+|(?<!`)`+$/g, '').trim()}`;
  return /^["“«„'‘].*["”“»'’]$/su.test(token) && token.length > 2 ? `quote ${token.slice(1, -1).trim()}` : null;
}

/** Adds the fact of a word, if it has one. Returns false, because the next word does not begin a sentence. */
function addWord(token: string, startsSentence: boolean, facts: string[]): boolean {
  const word = token.replace(/^[^\p{L}\p{N}$€£¥#@+\-−=<>%]+|(?<![^\p{L}\p{N}%$€£¥°=<>])[^\p{L}\p{N}%$€£¥°=<>]+$/gu, '');
  const lower = word.toLowerCase().replace(/’/g, "'");
  const fact = factOf(word, lower, startsSentence);
  if (fact !== null) facts.push(fact);
  // Punctuation alone does not end the beginning of a sentence.
  return word === '' ? startsSentence : false;
}

function factOf(word: string, lower: string, startsSentence: boolean): string | null {
  if (word === '') return null;
  if (negations.has(lower) || /n't$/.test(lower)) return 'not';
  const number = numberWords.get(lower);
  if (number !== undefined) return `number ${number}`;
  if (/\p{N}/u.test(word)) return `number ${lower.replace(/(?<=\d)[,_](?=\d{3})/g, '')}`;
  if (reversing.has(lower) || reversingPrefix.test(lower)) return `word ${lower}`;
  if (!/\p{L}/u.test(word)) return `sign ${word}`;
  // Scripts without capitals show no names, so each of their words is taken for one.
  if (/\p{Lo}/u.test(word) || /[_@\\.]|\p{Ll}\p{Lu}/u.test(word)) return `name ${word}`;
  if (!/^\p{Lu}/u.test(word) || lower === 'i' || lower.startsWith("i'")) return null;
  return startsSentence && openers.has(lower) ? null : `name ${lower.replace(/'s$/, '')}`;
}

const listed = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

const negations = listed(
  `not no never none nobody nothing neither nor nowhere without cannot cant dont doesnt isnt wont hardly barely scarcely except excluding
  unless nicht kein keine keinen keinem keiner keines nie niemals ohne pas jamais sans aucun aucune ni nunca sin ninguno ninguna tampoco non
  senza mai nessun nessuno não nem sem nenhum nenhuma niet geen nooit zonder`,
);

/** Words that reverse a meaning. Of a pair with a frequent word (`on`, `off`) the other one is enough. */
const reversing = listed(
  `before after above below under over more less fewer most least greater smaller larger higher lower longer shorter older younger oldest
  youngest newest latest earliest first last next previous minimum maximum min max best worst better worse increase decrease increases
  decreases increasing decreasing raise reduce add remove create delete insert drop enable disable enabled disabled allow deny forbid permit
  accept reject close stop end off out down left right inside outside exclude against buy sell import export upload download encrypt decrypt
  encode decode push pull lock unlock install uninstall true false always only all both half double twice public private internal external
  input output read write hot cold pros cons advantages disadvantages benefits risks cheap cheapest expensive positive negative from tomorrow
  yesterday daily weekly monthly yearly male female men women forbidden prohibited banned incorrect invalid inactive incomplete inaccurate
  indirect insecure inedible insufficient inappropriate`,
);

/** Prefixes of negation, without frequent words that only look alike. */
const reversingPrefix =
  /^(?:un(?!der|til|it|ion|iv|iq|less|cle|do\b)|dis(?!c|p|t|k|h)|im(?=[pbm])(?!p(?:ort|rov|lem|act|li|ress|os))|il(?=l)(?!l(?:us|eg\b))|ir(?=r)|non|anti|mis(?!s))\p{L}{3,}/u;

const numberWords: ReadonlyMap<string, string> = new Map(
  (
    [
      ...'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'
        .split(' ')
        .map((word, i) => [word, String(i)]),
      ...'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ').map((word, i) => [word, String((i + 2) * 10)]),
      ...[
        ['hundred', '100'],
        ['thousand', '1000'],
        ['million', '1000000'],
        ['billion', '1000000000'],
        ['dozen', '12'],
      ],
    ] as [string, string][]
  ).filter(([word]) => word !== 'one'),
);

/** Words that begin sentences and are no names. Other first words with a capital may be names. */
const openers = listed(
  `a an the this that these those there here what what's whats which who whom whose when where why how how's is are was were am be been do
  does did has have had can could will would shall should may might must if then and or but so because while as at by of about into i we you
  he she it they me my our your his her its their us please kindly tell give show list explain describe write summarize summarise translate
  compare define find make name let let's help calculate compute convert solve suggest recommend provide generate classify extract identify
  rewrite answer return check determine say hi hello hey thanks thank ok okay could`,
);
