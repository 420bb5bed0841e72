/** `opened` resolves with the given value when the test calls `open`. Opening again changes nothing. */
export const gate = <T = void>(): { readonly opened: Promise<T>; readonly open: (value: T) => void } => {
  let open: (value: T) => void = () => undefined;
  const opened = new Promise<T>((resolve) => (open = resolve));
  return { opened, open };
};
