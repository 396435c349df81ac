/**
 * Text from which `rate-gibberish` counts the sequences of letters in languages with Latin script. It was written for this purpose: about
 * as much English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Swedish and Turkish.
 */
export const seedText = `
The gateway receives a request from the client and sends it to the provider that the configuration names. When the answer comes back it is checked
and written to the log, so that someone can later find out what happened and how much it cost. People ask questions about everything: the weather,
their work, a recipe for dinner, the best way to learn a language, or why the sky is blue. Please write a short letter to my landlord and explain that
the heating has been broken since Monday. Could you summarise this article in three sentences? I would like to know which of these two books I should
read first. Our company makes small machines for kitchens and gardens, and we need a friendly text for the new website before Thursday evening.
Thank you very much for your quick help yesterday, everything works again. What is the difference between weather and climate, and who measures it?
Der Zug nach Hamburg hat heute leider zwanzig Minuten Verspätung, deshalb warten wir noch am Bahnhof und trinken einen Kaffee. Bitte schreiben Sie mir
eine kurze Zusammenfassung des Berichts, damit ich ihn morgen in der Besprechung vorstellen kann. Die Kinder spielen im Garten, während die Großmutter
das Mittagessen kocht. Welche Möglichkeiten gibt es, eine Wohnung günstig zu heizen? Ich möchte gerne wissen, warum die Rechnung höher ist als sonst.
Le train pour Lyon part à neuf heures et nous devons acheter les billets avant de monter. Pouvez-vous m'expliquer comment fonctionne cette machine et
quels sont les avantages par rapport à l'ancienne? Je voudrais écrire une lettre à ma grand-mère pour son anniversaire. Les enfants jouent dans la cour
pendant que leurs parents préparent le dîner. Quelle est la meilleure façon d'apprendre une langue étrangère sans professeur?
El tren para Sevilla sale a las nueve y tenemos que comprar los billetes antes de subir. ¿Podrías explicarme cómo funciona esta máquina y cuáles son
las ventajas? Quisiera escribir una carta a mi abuela por su cumpleaños. Los niños juegan en el patio mientras sus padres preparan la cena. Mañana por
la mañana iremos al mercado para comprar pescado, verduras y pan fresco, porque el domingo vienen nuestros amigos a comer.
Il treno per Firenze parte alle nove e dobbiamo comprare i biglietti prima di salire. Potresti spiegarmi come funziona questa macchina? Vorrei scrivere
una lettera a mia nonna per il suo compleanno. I bambini giocano nel cortile mentre i genitori preparano la cena con pasta, pomodori e formaggio.
O comboio para o Porto parte às nove e temos de comprar os bilhetes antes de entrar. Você poderia explicar como funciona esta máquina? Gostaria de
escrever uma carta para a minha avó. As crianças brincam no quintal enquanto os pais preparam o jantar para toda a família.
De trein naar Utrecht vertrekt om negen uur en we moeten nog kaartjes kopen. Kunt u mij uitleggen hoe dit apparaat werkt en wat de voordelen zijn? De
kinderen spelen in de tuin terwijl hun ouders het avondeten klaarmaken. Ik zou graag een brief aan mijn grootmoeder willen schrijven.
Pociąg do Krakowa odjeżdża o dziewiątej i musimy jeszcze kupić bilety. Czy możesz mi wyjaśnić, jak działa ta maszyna? Dzieci bawią się w ogrodzie, a
rodzice przygotowują kolację. Chciałbym napisać list do mojej babci na urodziny i życzyć jej dużo zdrowia.
Tåget till Göteborg avgår klockan nio och vi måste köpa biljetter innan vi går ombord. Kan du förklara hur maskinen fungerar? Barnen leker i trädgården
medan föräldrarna lagar middag. Jag skulle vilja skriva ett brev till min mormor på hennes födelsedag.
Ankara treni saat dokuzda kalkıyor ve binmeden önce bilet almamız gerekiyor. Bu makinenin nasıl çalıştığını açıklayabilir misin? Çocuklar bahçede
oynarken anne ve babaları akşam yemeğini hazırlıyor. Büyükanneme doğum günü için bir mektup yazmak istiyorum.
`;
