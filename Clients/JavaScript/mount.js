// Made from Clients/strings.json by Clients/strings.py.
const names = ['update', 'open', 'later', 'skip', 'close', 'tryAgain', 'updateRequired', 'maintenance'];
const table = {
  'ar': ['تحديث', 'فتح', 'لاحقًا', 'عدم العرض مرة أخرى', 'إغلاق', 'إعادة المحاولة', 'التحديث مطلوب', 'صيانة'],
  'bg': ['Обновяване', 'Отваряне', 'По-късно', 'Да не се показва отново', 'Затваряне', 'Нов опит', 'Необходимо е обновяване', 'Поддръжка'],
  'bn': ['আপডেট করুন', 'খুলুন', 'পরে', 'আর দেখাবেন না', 'বন্ধ করুন', 'আবার চেষ্টা করুন', 'আপডেট প্রয়োজন', 'রক্ষণাবেক্ষণ'],
  'ca': ['Actualitza', 'Obre', 'Més tard', 'No ho tornis a mostrar', 'Tanca', 'Torna-ho a provar', 'Cal actualitzar', 'Manteniment'],
  'cs': ['Aktualizovat', 'Otevřít', 'Později', 'Příště nezobrazovat', 'Zavřít', 'Zkusit znovu', 'Je nutná aktualizace', 'Údržba'],
  'da': ['Opdater', 'Åbn', 'Senere', 'Vis ikke igen', 'Luk', 'Prøv igen', 'Opdatering påkrævet', 'Vedligeholdelse'],
  'de': ['Aktualisieren', 'Öffnen', 'Später', 'Nicht mehr anzeigen', 'Schließen', 'Erneut versuchen', 'Update erforderlich', 'Wartung'],
  'el': ['Ενημέρωση', 'Άνοιγμα', 'Αργότερα', 'Να μην εμφανιστεί ξανά', 'Κλείσιμο', 'Δοκιμή ξανά', 'Απαιτείται ενημέρωση', 'Συντήρηση'],
  'en': ['Update', 'Open', 'Later', 'Do not show again', 'Close', 'Try again', 'Update required', 'Maintenance'],
  'es': ['Actualizar', 'Abrir', 'Más tarde', 'No volver a mostrar', 'Cerrar', 'Reintentar', 'Actualización necesaria', 'Mantenimiento'],
  'et': ['Uuenda', 'Ava', 'Hiljem', 'Ära enam näita', 'Sulge', 'Proovi uuesti', 'Uuendamine on vajalik', 'Hooldus'],
  'eu': ['Eguneratu', 'Ireki', 'Geroago', 'Ez erakutsi berriro', 'Itxi', 'Saiatu berriro', 'Eguneratu egin behar da', 'Mantentze-lanak'],
  'fa': ['به‌روزرسانی', 'باز کردن', 'بعداً', 'دیگر نشان داده نشود', 'بستن', 'تلاش دوباره', 'به‌روزرسانی لازم است', 'تعمیر و نگهداری'],
  'fi': ['Päivitä', 'Avaa', 'Myöhemmin', 'Älä näytä uudelleen', 'Sulje', 'Yritä uudelleen', 'Päivitys vaaditaan', 'Huolto'],
  'fil': ['I-update', 'Buksan', 'Mamaya', 'Huwag nang ipakita muli', 'Isara', 'Subukang muli', 'Kailangang mag-update', 'Maintenance'],
  'fr': ['Mettre à jour', 'Ouvrir', 'Plus tard', 'Ne plus afficher', 'Fermer', 'Réessayer', 'Mise à jour requise', 'Maintenance'],
  'gl': ['Actualizar', 'Abrir', 'Máis tarde', 'Non mostrar de novo', 'Pechar', 'Tentar de novo', 'Actualización necesaria', 'Mantemento'],
  'he': ['עדכון', 'פתיחה', 'אחר כך', 'לא להציג שוב', 'סגירה', 'ניסיון נוסף', 'נדרש עדכון', 'תחזוקה'],
  'hi': ['अपडेट करें', 'खोलें', 'बाद में', 'दोबारा न दिखाएँ', 'बंद करें', 'फिर से कोशिश करें', 'अपडेट ज़रूरी है', 'रखरखाव'],
  'hr': ['Ažuriraj', 'Otvori', 'Kasnije', 'Ne prikazuj ponovno', 'Zatvori', 'Pokušaj ponovno', 'Potrebno je ažuriranje', 'Održavanje'],
  'hu': ['Frissítés', 'Megnyitás', 'Később', 'Ne jelenjen meg többé', 'Bezárás', 'Újrapróbálkozás', 'Frissítés szükséges', 'Karbantartás'],
  'id': ['Perbarui', 'Buka', 'Nanti', 'Jangan tampilkan lagi', 'Tutup', 'Coba lagi', 'Pembaruan diperlukan', 'Pemeliharaan'],
  'is': ['Uppfæra', 'Opna', 'Seinna', 'Ekki sýna aftur', 'Loka', 'Reyna aftur', 'Uppfærslu krafist', 'Viðhald'],
  'it': ['Aggiorna', 'Apri', 'Più tardi', 'Non mostrare più', 'Chiudi', 'Riprova', 'Aggiornamento necessario', 'Manutenzione'],
  'ja': ['アップデート', '開く', 'あとで', '今後表示しない', '閉じる', '再試行', 'アップデートが必要です', 'メンテナンス中'],
  'kk': ['Жаңарту', 'Ашу', 'Кейінірек', 'Қайта көрсетпеу', 'Жабу', 'Қайталап көру', 'Жаңарту қажет', 'Техникалық жұмыстар'],
  'ko': ['업데이트', '열기', '나중에', '다시 표시하지 않기', '닫기', '다시 시도', '업데이트 필요', '점검 중'],
  'lt': ['Atnaujinti', 'Atidaryti', 'Vėliau', 'Daugiau nerodyti', 'Uždaryti', 'Bandyti dar kartą', 'Būtina atnaujinti', 'Techninė priežiūra'],
  'lv': ['Atjaunināt', 'Atvērt', 'Vēlāk', 'Vairs nerādīt', 'Aizvērt', 'Mēģināt vēlreiz', 'Nepieciešams atjauninājums', 'Apkope'],
  'mk': ['Ажурирај', 'Отвори', 'Подоцна', 'Не прикажувај повторно', 'Затвори', 'Обиди се повторно', 'Потребно е ажурирање', 'Одржување'],
  'mr': ['अपडेट करा', 'उघडा', 'नंतर', 'पुन्हा दाखवू नका', 'बंद करा', 'पुन्हा प्रयत्न करा', 'अपडेट आवश्यक आहे', 'देखभाल'],
  'ms': ['Kemas kini', 'Buka', 'Kemudian', 'Jangan tunjukkan lagi', 'Tutup', 'Cuba lagi', 'Kemas kini diperlukan', 'Penyelenggaraan'],
  'nb': ['Oppdater', 'Åpne', 'Senere', 'Ikke vis igjen', 'Lukk', 'Prøv igjen', 'Oppdatering kreves', 'Vedlikehold'],
  'nl': ['Bijwerken', 'Openen', 'Later', 'Niet meer tonen', 'Sluiten', 'Opnieuw proberen', 'Update vereist', 'Onderhoud'],
  'pl': ['Aktualizuj', 'Otwórz', 'Później', 'Nie pokazuj ponownie', 'Zamknij', 'Spróbuj ponownie', 'Wymagana aktualizacja', 'Prace konserwacyjne'],
  'pt': ['Atualizar', 'Abrir', 'Mais tarde', 'Não mostrar novamente', 'Fechar', 'Tentar novamente', 'Atualização necessária', 'Manutenção'],
  'pt-PT': ['Atualizar', 'Abrir', 'Mais tarde', 'Não voltar a mostrar', 'Fechar', 'Tentar de novo', 'Atualização necessária', 'Manutenção'],
  'ro': ['Actualizează', 'Deschide', 'Mai târziu', 'Nu mai afișa', 'Închide', 'Încearcă din nou', 'Actualizare necesară', 'Mentenanță'],
  'ru': ['Обновить', 'Открыть', 'Позже', 'Больше не показывать', 'Закрыть', 'Повторить', 'Требуется обновление', 'Технические работы'],
  'sk': ['Aktualizovať', 'Otvoriť', 'Neskôr', 'Nabudúce nezobrazovať', 'Zavrieť', 'Skúsiť znova', 'Vyžaduje sa aktualizácia', 'Údržba'],
  'sl': ['Posodobi', 'Odpri', 'Pozneje', 'Ne prikaži več', 'Zapri', 'Poskusi znova', 'Potrebna je posodobitev', 'Vzdrževanje'],
  'sq': ['Përditëso', 'Hap', 'Më vonë', 'Mos e shfaq më', 'Mbyll', 'Provo përsëri', 'Kërkohet përditësim', 'Mirëmbajtje'],
  'sr': ['Ажурирај', 'Отвори', 'Касније', 'Не приказуј поново', 'Затвори', 'Покушај поново', 'Потребно је ажурирање', 'Одржавање'],
  'sv': ['Uppdatera', 'Öppna', 'Senare', 'Visa inte igen', 'Stäng', 'Försök igen', 'Uppdatering krävs', 'Underhåll'],
  'sw': ['Sasisha', 'Fungua', 'Baadaye', 'Usionyeshe tena', 'Funga', 'Jaribu tena', 'Sasisho linahitajika', 'Matengenezo'],
  'ta': ['புதுப்பி', 'திற', 'பிறகு', 'மீண்டும் காட்டாதே', 'மூடு', 'மீண்டும் முயற்சி செய்', 'புதுப்பிப்பு தேவை', 'பராமரிப்பு'],
  'te': ['అప్‌డేట్ చేయండి', 'తెరవండి', 'తర్వాత', 'మళ్లీ చూపవద్దు', 'మూసివేయండి', 'మళ్లీ ప్రయత్నించండి', 'అప్‌డేట్ అవసరం', 'నిర్వహణ'],
  'th': ['อัปเดต', 'เปิด', 'ภายหลัง', 'ไม่ต้องแสดงอีก', 'ปิด', 'ลองอีกครั้ง', 'จำเป็นต้องอัปเดต', 'กำลังปรับปรุงระบบ'],
  'tr': ['Güncelle', 'Aç', 'Daha sonra', 'Bir daha gösterme', 'Kapat', 'Tekrar dene', 'Güncelleme gerekli', 'Bakım'],
  'uk': ['Оновити', 'Відкрити', 'Пізніше', 'Більше не показувати', 'Закрити', 'Спробувати ще раз', 'Потрібне оновлення', 'Технічні роботи'],
  'ur': ['اپ ڈیٹ کریں', 'کھولیں', 'بعد میں', 'دوبارہ نہ دکھائیں', 'بند کریں', 'دوبارہ کوشش کریں', 'اپ ڈیٹ ضروری ہے', 'دیکھ بھال'],
  'vi': ['Cập nhật', 'Mở', 'Để sau', 'Không hiện lại', 'Đóng', 'Thử lại', 'Cần cập nhật', 'Bảo trì'],
  'zh': ['更新', '打开', '稍后', '不再显示', '关闭', '重试', '需要更新', '维护中'],
  'zh-Hant': ['更新', '開啟', '稍後', '不再顯示', '關閉', '再試一次', '需要更新', '維護中'],
};
// The end of what is made.

const tag = 'versiongate-screens';
const rightToLeft = ['ar', 'fa', 'he', 'ur'];
const workerLimit = 5_000; // milliseconds that a new service worker is waited for
const latestDate = 8.64e15; // milliseconds since 1970: dates that are later cannot be written
const watchPause = 50; // milliseconds between a change of the page and a look at whether the lockout still covers it
const stores = /^(itms-appss?|macappstore|market|ms-windows-store):|^https:\/\/(apps\.apple|play\.google|apps\.microsoft)\.com\//i;
const checkedTypes = ['visibilitychange', 'pageshow', 'online'];
const keptTypes = [
  'keydown', 'keypress', 'keyup', 'copy', 'cut', 'paste', 'dragenter', 'dragover', 'drop', 'click', 'auxclick', 'submit',
];
const watchedTypes = ['focusin', 'blur', 'toggle', 'fullscreenchange'];

/**
 * Asks the gate now and whenever the page comes to the foreground, shows messages one after the other, and covers the page
 * while it is locked out.
 */
export function mount(gate, options = {}) {
  if (typeof gate?.check !== 'function') throw new TypeError('gate must be a VersionGate');
  const known = ['language', 'texts', 'onLockout'];
  const { language, texts, onLockout } = membersOf(options, 'options', known);
  for (const [name, text] of Object.entries(membersOf(texts ?? {}, 'options.texts', names))) {
    if (typeof text !== 'string') throw new TypeError(`options.texts.${name} must be a string`);
  }
  if (!['undefined', 'string'].includes(typeof language)) throw new TypeError('options.language must be a string');
  if (!['undefined', 'function'].includes(typeof onLockout)) throw new TypeError('options.onLockout must be a function');
  if (document.querySelector(tag) !== null) throw new Error('the page has a mounted gate already: unmount it first');
  const screens = new Screens(gate, { language, texts, onLockout });
  return { check: (how) => screens.check(how), unmount: () => screens.unmount() };
}

class Screens {
  #gate;
  #options;
  #host = document.createElement(tag);
  #root = this.#host.attachShadow({ mode: 'open' });
  #cover = element('dialog', { className: 'lockout' });
  #card = element('dialog', { className: 'message' });
  #waiting = []; // messages; the first is on the card
  #shown = null; // the message on the card
  #lockout = null;
  #content = null; // of the cover
  #countdown = null; // the element of the lockout, if it ends by itself
  #ends = Infinity; // by `Date.now`
  #ticking;
  #watching;
  #observer = new MutationObserver(() => this.#watch());
  #focused = null; // before the lockout
  #inerted = new Set();

  constructor(gate, options) {
    this.#gate = gate;
    this.#options = options;
    this.#cover.setAttribute('role', 'alertdialog');
    this.#cover.setAttribute('closedby', 'none');
    this.#cover.addEventListener('cancel', (event) => event.preventDefault());
    this.#cover.addEventListener('close', () => this.#enforce());
    this.#card.addEventListener('close', () => !this.#card.open && this.#answer((message) => message.dismiss()));
    for (const dialog of [this.#cover, this.#card]) {
      dialog.setAttribute('aria-labelledby', 'title');
      dialog.setAttribute('aria-describedby', 'text');
    }
    this.#adopt(this.#root, screenStyle());
    this.#root.append(this.#cover, this.#card);
    document.documentElement.append(this.#host);
    for (const type of checkedTypes) addEventListener(type, this.#appear, true);
    for (const type of keptTypes) addEventListener(type, this.#keep, true);
    for (const type of keptTypes) this.#host.addEventListener(type, (event) => event.stopPropagation());
    for (const type of watchedTypes) addEventListener(type, this.#seeEvent, true);
    this.check();
  }

  async check(how) {
    // A check that does not ask gives what is kept, which with `maximumAge: 0` is nothing.
    const given = await this.#gate.check(this.#lockout === null ? how : { ...how, force: true });
    if (this.#gate === null) return [];
    const messages = given.filter(({ lockout }) => !lockout);
    this.#waiting = [...this.#waiting.filter((one) => messages.every(({ id }) => id !== one.id)), ...messages];
    const lockout = given.find((one) => one.lockout);
    if (lockout !== undefined) this.#lock(lockout);
    else this.#unlock();
    this.#showNext();
    return given;
  }

  unmount() {
    if (this.#gate === null) return;
    this.#gate = { check: async () => [] };
    this.#unlock();
    this.#gate = null;
    for (const type of checkedTypes) removeEventListener(type, this.#appear, true);
    for (const type of keptTypes) removeEventListener(type, this.#keep, true);
    for (const type of watchedTypes) removeEventListener(type, this.#seeEvent, true);
    this.#host.remove();
  }

  #appear = (event) => {
    const isHere = event.type === 'pageshow' ? event.persisted : document.visibilityState === 'visible';
    if (isHere) this.check();
  };

  /** Keeps what a person does from a page that is locked out: an access key clicks also what is inert. */
  #keep = (event) => {
    if (this.#lockout === null || !event.isTrusted) return;
    if (!event.composedPath().includes(this.#host)) {
      event.stopImmediatePropagation();
      if (['click', 'submit'].includes(event.type)) event.preventDefault();
    }
    // A second Escape closes a dialog whatever its `cancel` says.
    if (event.key === 'Escape' && !this.#card.open) event.preventDefault();
  };

  #seeEvent = (event) => {
    if (this.#lockout === null || event.target === this.#host) return;
    if (event.target === window) this.#watch();
    else this.#enforce();
  };

  // A lockout.

  #lock(lockout) {
    const before = this.#lockout;
    this.#lockout = lockout;
    // A server that goes on sending what has ended is not asked at once each time.
    const left = lockout.left === 0 ? (before === null ? 1 : 15) : lockout.left ?? Infinity;
    const ends = Date.now() + left * 1_000;
    this.#ends = ends > latestDate ? Infinity : ends;
    if (before === null) {
      call(this.#options.onLockout, lockout);
      this.#focused = document.activeElement;
    }
    const [texts, locale] = this.#texts();
    const isSame = ['id', 'title', 'text', 'link'].every((name) => before?.[name] === lockout[name]);
    if (!isSame || locale !== this.#content.lang || (this.#countdown === null) !== (this.#ends === Infinity)) {
      const again = element('button', { type: 'button', textContent: texts.tryAgain });
      again.addEventListener('click', () => this.#tryAgain(again));
      this.#countdown = this.#ends === Infinity ? null : element('p', { className: 'until' });
      this.#countdown?.setAttribute('role', 'timer');
      const title = lockout.title || (lockout.link ? texts.updateRequired : texts.maintenance);
      this.#content = this.#contentOf({ ...lockout, title }, [this.#linkOf(lockout, texts), again], this.#countdown);
      this.#cover.replaceChildren(this.#content);
    }
    this.#tick();
    if (before !== null) return;
    this.#ticking = setInterval(() => this.#tick(), 1_000);
    this.#enforce();
  }

  #unlock() {
    const before = this.#lockout;
    if (before === null) return;
    this.#lockout = null;
    this.#content = null;
    clearInterval(this.#ticking);
    this.#observer.disconnect();
    for (const one of this.#inerted) one.inert = false;
    this.#inerted.clear();
    document.adoptedStyleSheets = [...document.adoptedStyleSheets].filter((sheet) => sheet !== hiding());
    this.#cover.close();
    this.#cover.replaceChildren();
    this.#focused?.focus?.({ preventScroll: true });
    call(this.#options.onLockout, null);
  }

  async #tryAgain(button) {
    if (button.ariaBusy === 'true') return;
    button.ariaBusy = 'true';
    const status = this.#content.querySelector('[role=status]');
    status.textContent = '';
    await this.check();
    button.ariaBusy = null;
    status.textContent = this.#content === null ? '' : this.#content.querySelector('h2').textContent;
  }

  #tick() {
    const left = this.#ends - Date.now();
    if (this.#countdown !== null) {
      const [, locale] = this.#texts();
      this.#countdown.textContent = `${clockTime(this.#ends, left, locale)} (${remaining(left, locale)})`;
    }
    if (left <= 0) {
      this.#ends = Date.now() + 5_000; // when it asks again, if it is still locked then
      this.check();
    }
    this.#watch();
  }

  #watch() {
    this.#watching ??= setTimeout(() => {
      this.#watching = undefined;
      this.#enforce();
    }, watchPause);
  }

  /** Whatever the page has done meanwhile: the lockout covers it, and nothing in it can be reached. */
  #enforce() {
    const page = document.documentElement;
    if (this.#lockout === null || page === null) return;
    if (this.#host.parentNode !== page) page.append(this.#host);
    for (const name of ['inert', 'hidden', 'popover', 'class', 'dir']) this.#host.removeAttribute(name);
    this.#host.style.cssText = 'display: contents !important';
    for (const dialog of [this.#cover, this.#card]) {
      if (dialog.parentNode !== this.#root) this.#root.append(dialog);
      for (const name of ['inert', 'hidden', 'popover', 'style']) dialog.removeAttribute(name);
    }
    if (this.#content.parentNode !== this.#cover) this.#cover.replaceChildren(this.#content);
    this.#adopt(this.#root, screenStyle());
    this.#adopt(document, hiding());
    for (const one of page.children) {
      if (one === this.#host || one.localName === 'head' || one.inert) continue;
      one.inert = true;
      this.#inerted.add(one);
    }
    if (document.fullscreenElement !== null) document.exitFullscreen?.().catch(() => {});
    if (!this.#isOnTop()) {
      this.#open(this.#cover);
      if (this.#shown !== null) this.#open(this.#card);
    }
    const active = document.activeElement;
    const isElsewhere = ![this.#host, document.body, page, null].includes(active);
    if (isElsewhere || this.#isFrameFocused()) {
      active?.blur();
      this.#root.activeElement?.blur();
      window.focus();
      this.#focus(this.#shown === null ? this.#cover : this.#card);
    }
    this.#observer.observe(document, {
      subtree: true, childList: true, attributeFilter: ['open', 'inert', 'hidden', 'style', 'class', 'popover'],
    });
    this.#observer.observe(this.#root, { subtree: true, childList: true, attributes: true });
    this.#observer.takeRecords();
  }

  /** A frame can take the focus without becoming the active element. */
  #isFrameFocused() {
    return [...document.querySelectorAll('iframe')].some((frame) => {
      try {
        return frame.contentDocument.hasFocus();
      } catch {
        return false; // of another origin
      }
    });
  }

  #isOnTop() {
    if (!this.#cover.isConnected || !this.#cover.open || !this.#cover.matches(':modal')) return false;
    const [right, bottom] = [innerWidth - 1, innerHeight - 1];
    const points = [[0, 0], [right, 0], [right / 2, bottom / 2], [0, bottom], [right, bottom]];
    return points.every(([x, y]) => [this.#host, null].includes(document.elementFromPoint(x, y)));
  }

  /** Opens a dialog above all others. */
  #open(dialog) {
    try {
      if (dialog.open) dialog.close();
      dialog.removeAttribute('open');
      dialog.showModal();
    } catch {
      // A page that is being taken apart is looked at again.
    }
    this.#focus(dialog);
  }

  /** On no button, so that what is being typed presses none. */
  #focus(dialog) {
    dialog.querySelector('h2')?.focus({ preventScroll: true });
  }

  #adopt(place, sheet) {
    const sheets = place.adoptedStyleSheets;
    if (sheet !== null && !sheets.includes(sheet)) place.adoptedStyleSheets = [...sheets, sheet];
  }

  // Messages.

  #showNext() {
    const [message] = this.#waiting;
    if (message === undefined || this.#shown !== null) return;
    this.#shown = message;
    const [texts] = this.#texts();
    const link = this.#linkOf(message, texts);
    const close = element('button', { type: 'button', textContent: isUpdate(message) ? texts.later : texts.close });
    close.addEventListener('click', () => this.#answer((one) => one.dismiss()));
    const skip = element('button', { type: 'button', textContent: texts.skip });
    skip.addEventListener('click', () => this.#answer((one) => one.skip()));
    this.#card.replaceChildren(this.#contentOf(message, [link, close, message.skippable ? skip : null]));
    if (!this.#host.isConnected) document.documentElement.append(this.#host);
    this.#open(this.#card);
  }

  /** The person has answered the message on the card. */
  #answer(tell) {
    const message = this.#shown;
    if (message === null) return;
    this.#shown = null;
    this.#waiting = this.#waiting.filter(({ id }) => id !== message.id);
    tell(message);
    if (this.#card.open) this.#card.close();
    this.#showNext();
  }

  // What both have.

  /** The texts, and the language of dates. */
  #texts() {
    const [language, locale] = languageOf(this.#options.language ?? this.#gate.language ?? navigator.language);
    const texts = Object.fromEntries(names.map((name, index) => [name, table[language][index]]));
    for (const dialog of [this.#cover, this.#card]) dialog.dir = rightToLeft.includes(language) ? 'rtl' : 'ltr';
    return [{ ...texts, ...this.#options.texts }, locale];
  }

  #contentOf({ title, text }, buttons, countdown = null) {
    const [, lang] = this.#texts();
    const actions = element('div', { className: 'actions', lang });
    actions.append(...buttons.filter((button) => button !== null));
    actions.firstChild.classList.add('first');
    const status = element('p', { className: 'status', dir: 'auto' });
    status.setAttribute('role', 'status');
    const content = element('div', { className: 'content', lang });
    const words = element('div', { className: 'words', lang: document.documentElement.lang });
    words.append(
      element('h2', { id: 'title', dir: 'auto', tabIndex: -1, textContent: title }),
      element('p', { id: 'text', dir: 'auto', textContent: text }),
    );
    content.append(words, ...(countdown === null ? [] : [countdown]), actions, status);
    return content;
  }

  #linkOf(message, texts) {
    if (message.link === undefined) return null;
    const link = element('a', { href: message.link, rel: 'noopener noreferrer' });
    link.textContent = isUpdate(message) ? texts.update : texts.open;
    const isOwn = isOwnPage(message.link);
    if (!isOwn && /^https?:/i.test(message.link)) link.target = '_blank';
    link.addEventListener('click', (event) => {
      if (isOwn) {
        event.preventDefault();
        if (link.ariaBusy === 'true') return;
        link.ariaBusy = 'true';
        message.opened();
        renew(message.link).finally(() => {
          link.ariaBusy = null;
        });
      } else {
        setTimeout(() => (message.lockout ? message.opened() : this.#answer((one) => one.opened())));
      }
    });
    return link;
  }
}

// Links.

/** A link can have a host that is none: `https://[`. */
const isOwnPage = (link) => {
  try {
    return new URL(link, location.href).origin === location.origin;
  } catch {
    return false;
  }
};
const isUpdate = ({ link, target }) => link !== undefined && (target !== undefined || isOwnPage(link) || stores.test(link));

/** Loads the page anew, with the newest service worker if it has one. */
async function renew(link) {
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, workerLimit);
  });
  await Promise.race([newWorker(link).catch(() => {}), late]);
  clearTimeout(timer);
  const bare = (address) => new URL(address).href.replace(/#.*/, '');
  if (bare(link) === bare(location.href)) location.reload();
  else location.assign(link);
}

/** Has a service worker that is newer take the place of the one that runs. */
async function newWorker(link) {
  const registration = await navigator.serviceWorker?.getRegistration(link);
  await registration?.update();
  const worker = registration?.installing ?? registration?.waiting;
  if (!worker) return;
  for (let isTold = false; !['activated', 'redundant'].includes(worker.state);) {
    if (worker.state === 'installed' && !isTold) {
      isTold = true;
      worker.postMessage({ type: 'SKIP_WAITING' });
    }
    await new Promise((resolve) => {
      worker.addEventListener('statechange', resolve, { once: true });
    });
  }
}

// Words.

/** The language of the table for a tag, and the tag for dates. English if there is none. */
function languageOf(text) {
  try {
    const locale = new Intl.Locale(text.replace(/_/g, '-'));
    const { language, script, region } = locale.maximize();
    const name = { no: 'nb', nn: 'nb', tl: 'fil' }[language] ?? language;
    const found = [`${name}-${script}`, `${name}-${region}`, name].find((one) => Object.hasOwn(table, one));
    if (found !== undefined) return [found, locale.baseName];
  } catch {
    // It is no tag.
  }
  return ['en', 'en'];
}

function clockTime(time, left, locale) {
  const style = left > 12 * 3_600_000 ? { dateStyle: 'medium', timeStyle: 'short' } : { timeStyle: 'short' };
  return new Intl.DateTimeFormat(locale, style).format(time);
}

function remaining(left, locale) {
  const seconds = Math.max(0, Math.ceil(left / 1_000));
  const units = [['second', 1, 120], ['minute', 60, 7_200], ['hour', 3_600, 172_800], ['day', 86_400, Infinity]];
  const [unit, length] = units.find(([, , end]) => seconds < end);
  return new Intl.RelativeTimeFormat(locale).format(Math.ceil(seconds / length), unit);
}

// Elements and style.

function element(name, members) {
  return Object.assign(document.createElement(name), members);
}

/** A sheet made by script, which a Content-Security-Policy without inline styles allows. */
function sheetOf(text) {
  let sheet;
  return () => {
    if (sheet !== undefined) return sheet;
    try {
      sheet = new CSSStyleSheet();
      sheet.replaceSync(text);
    } catch {
      sheet = null; // An old browser shows the dialogs as its own style has them.
    }
    return sheet;
  };
}

const hiding = sheetOf(`
html { overflow: hidden !important; }
html > :not(head, ${tag}), html > :not(head, ${tag}) * { visibility: hidden !important; }
`);

const screenStyle = sheetOf(`
dialog {
  all: initial; display: none; box-sizing: border-box; color-scheme: light dark; overflow: auto; overscroll-behavior: contain;
  background: var(--ground); color: var(--ink); font: medium/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
  --ground: #fff; --ink: #1b1b1f; --line: #74777f;
  --first: var(--versiongate-accent, #0b57d0); --on-first: var(--versiongate-on-accent, #fff);
}
dialog[open] { display: block; position: fixed; inset: 0; margin: auto; }
dialog::backdrop { background: rgb(0 0 0 / 0.5); }
.lockout { width: 100%; height: 100%; }
.lockout::backdrop { background: #808080; }
.lockout > .content { min-height: 100%; justify-content: center; }
.message {
  width: min(30em, 100% - 2em); height: fit-content; max-height: calc(100% - 2em);
  border: 1px solid transparent; border-radius: 0.75em; box-shadow: 0 0.5em 2em rgb(0 0 0 / 0.3);
}
.content {
  display: flex; flex-direction: column; box-sizing: border-box; width: 100%; max-width: 36em; margin: auto;
  padding: 1.5em 1.5em 0;
}
h2, p { margin: 0 0 0.75em; text-align: start; unicode-bidi: isolate; }
h2 { outline: none; font-size: 1.35em; line-height: 1.3; overflow: clip; overflow-clip-margin: 0.3em; }
#text { white-space: pre-line; overflow: clip; overflow-clip-margin: 0.3em; }
.until { font-variant-numeric: tabular-nums; }
.status { position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%); }
.actions { display: flex; flex-wrap: wrap; gap: 0.5em; padding: 0.5em 0 1.5em; background: var(--ground); }
button, a {
  all: unset; display: inline-flex; align-items: center; justify-content: center; box-sizing: border-box;
  min-height: 2.75em; padding: 0.5em 1.25em; border: 1px solid var(--line); border-radius: 0.5em;
  cursor: pointer; text-align: center;
}
.first { border-color: var(--first); background: var(--first); color: var(--on-first); }
button:focus-visible, a:focus-visible { outline: 3px solid var(--ink); outline-offset: 2px; }
[aria-busy=true] { cursor: progress; opacity: 0.9; }
[aria-busy=true]::after { content: " …"; }
@media (min-height: 30em) { .actions { position: sticky; bottom: 0; } }
@media (max-width: 30em) { .actions { flex-direction: column; } }
@media (prefers-color-scheme: dark) {
  dialog { --ground: #1f1f23; --ink: #e6e6ea; --line: #8e9099;
    --first: var(--versiongate-accent, #a8c7fa); --on-first: var(--versiongate-on-accent, #062e6f); }
}
@media (prefers-reduced-motion: no-preference) {
  dialog[open] { animation: appear 0.2s ease-out; }
  @keyframes appear { from { opacity: 0; } }
  .message[open] { animation-name: rise; }
  @keyframes rise { from { opacity: 0; transform: translateY(1em); } }
}
`);

// Mistakes of the programmer, and of the app.

function membersOf(value, name, known) {
  if (typeof value !== 'object' || value === null) throw new TypeError(`${name} must be an object`);
  for (const member of Object.keys(value)) {
    if (!known.includes(member)) throw new TypeError(`${name} has no ${member}; it has ${known.join(', ')}`);
  }
  return value;
}

function call(act, value) {
  try {
    act?.(value);
  } catch (error) {
    reportError(error); // The page is covered whatever the app makes of it.
  }
}
