/** Texts with a query that search and recall by words both find them by, and words that they do not contain. */
export const sameWords: readonly (readonly [
  what: string,
  found: { readonly text: string; readonly query: string; readonly other: string },
])[] = [
  ['accents', { text: 'Le café est fermé.', query: 'CAFE', other: 'cafes' }],
  ['no accents', { text: 'The cafe is closed.', query: 'café', other: 'cafes' }],
  ['sharp s', { text: 'Die Straße am Fluß', query: 'strasse', other: 'strassen' }],
  ['double s', { text: 'DIE STRASSE', query: 'Straße', other: 'Straßen' }],
  ['ligatures', { text: 'The ﬁsh and the waﬄe', query: 'fish waffle', other: 'sh' }],
  ['full width', { text: 'ＧＯＬＤ ４２', query: 'gold 42', other: '4' }],
  ['half width', { text: 'ｶﾞﾗｽの靴', query: 'ガラス', other: 'カ' }],
  ['digits', { text: 'room 42', query: '４２', other: '2' }],
  ['Japanese', { text: '銀の袋を古い井戸の下に隠した。', query: '井戸 銀', other: '塔' }],
  ['Chinese', { text: '磨坊昨晚被烧毁了。', query: '磨坊', other: '城' }],
  ['Thai', { text: 'โรงสีถูกไฟไหม้เมื่อคืน', query: 'โรงสี', other: 'วัว' }],
  ['Korean', { text: '방앗간이 어젯밤에 불탔다', query: '어젯밤에', other: '어젯' }],
  ['Korean, decomposed', { text: '방앗간이 불탔다', query: '방앗간이'.normalize('NFD'), other: '방' }],
  ['Khmer', { text: 'ផ្ទះម៉ាស៊ីនបានឆេះ', query: 'ផ្ទះ', other: 'ឪពុក' }],
  ['Greek', { text: 'Ο ΜΎΛΟΣ κάηκε', query: 'μυλος', other: 'μυλ' }],
  ['Cyrillic', { text: 'Ёлка сгорела', query: 'елка', other: 'елк' }],
  ['Hindi', { text: 'चक्की जल गई', query: 'चक्की', other: 'चक' }],
];
